"""Fetches bytes from the web: politely, guarded, with limits on size."""
