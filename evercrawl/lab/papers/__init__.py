"""Figures and claims of papers, reproduced on link graphs."""
