"""A small web in memory with exact cash, for tests, demonstrations and proofs."""
