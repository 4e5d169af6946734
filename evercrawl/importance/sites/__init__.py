"""Importance of sites, link farms, rising pages, and agreement with raters."""
