"""What the docstrings of policies say of their parameters."""
