"""A crawl in several partitions, served to browsers and programs."""
