"""Visits made to measure: to copies sampled at random, and to paths that cannot exist."""
