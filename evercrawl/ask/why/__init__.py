"""Explanations of when a page is visited, or why it is not."""
