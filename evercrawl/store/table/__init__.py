"""The table of all known URLs, by key and by slot."""
