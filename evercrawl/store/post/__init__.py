"""Partitions of one crawl: their ownership of hosts, and the exchange between them."""
