"""Repair of a damaged crawl directory, by kind of file; `evercrawl.crawl.mending.repairing` runs the steps in order."""
