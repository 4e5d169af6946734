"""The crawl's beliefs at one instant, indexed by slot."""
