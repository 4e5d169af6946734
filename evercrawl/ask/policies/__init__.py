"""Documentation of policies, extracted from their docstrings."""
