"""What estimators share, whatever they learn: checks of their parameters, and a progress bar."""
