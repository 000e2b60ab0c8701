"""Reports about this installation."""
