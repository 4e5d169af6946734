"""The worth of a page to its readers."""
