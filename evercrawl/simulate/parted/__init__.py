"""Simulated worlds of a crawl in several partitions, which exchange messages over a bad network."""
