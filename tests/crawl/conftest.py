"""Crawl directories made by hand."""

from hand_made import asked, begun, filled, made, ten  # noqa: F401 - fixtures
