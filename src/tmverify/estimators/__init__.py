"""What estimators share, whatever they learn: checks of their parameters."""
