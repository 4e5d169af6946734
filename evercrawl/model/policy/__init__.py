"""The policy and the scheme of a crawl: made, taught, and shown all pages."""
