"""Policies and estimators compared on pages without links."""
