"""Usage of a crawl: what users search for and open."""
