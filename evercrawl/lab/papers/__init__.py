"""Figures and claims of papers, made again on webs of links."""
