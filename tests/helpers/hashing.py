"""Hashes for tests that have no crawl."""

from evercrawl.arrays.hasher import Hasher

HASHER = Hasher(bytes(range(16)))
