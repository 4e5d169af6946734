"""Figures as PNG."""
