"""Bytes from the web: politely, guarded, capped."""
