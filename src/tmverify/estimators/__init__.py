"""What estimators share, whatever they learn: checks of their parameters, a line while they learn."""
