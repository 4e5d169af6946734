"""Lists of pages that sites publish: sitemaps and feeds."""
