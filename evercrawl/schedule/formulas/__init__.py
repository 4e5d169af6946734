"""Formulas for the worth of a visit and for optimal rates."""
