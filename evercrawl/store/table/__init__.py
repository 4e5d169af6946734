"""All known URLs, by key and by slot."""
