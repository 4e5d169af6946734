"""Crawls inside other programs: they fetch and extract, evercrawl decides what comes next and when again."""

__all__: list[str] = []
