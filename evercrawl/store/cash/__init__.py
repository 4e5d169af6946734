"""Cash accounts, and how events move cash."""
