"""WARC files and their index."""
