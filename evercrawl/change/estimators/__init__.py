"""Estimators of a page's rate of change, one a file."""
