"""Estimators of a page's rate of change, one per file."""
