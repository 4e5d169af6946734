"""How often a page changes, learned from the visits."""
