"""Crawls in several partitions, each with its own process."""
