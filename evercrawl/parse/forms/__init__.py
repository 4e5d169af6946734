"""Forms of pages: those that search a site, and those that log somebody in."""
