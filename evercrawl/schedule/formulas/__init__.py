"""Formulas for the worth of a visit and for optimal visit rates."""
