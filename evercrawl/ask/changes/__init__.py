"""Changes of pages: listings, versions, feeds and webhooks."""
