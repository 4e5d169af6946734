"""Crawl directories made by hand."""

from hand_made import made  # noqa: F401 - a fixture
