"""Comparisons of policies and estimators on pages without links."""
