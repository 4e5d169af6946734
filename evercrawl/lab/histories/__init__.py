"""Recorded change histories of real pages, read from tables or from the journal of a crawl."""

from evercrawl.lab.histories.find import find, load, read, shipped
from evercrawl.lab.histories.history import APPEARED, CHANGED, REMOVED, TECHNICAL, CrawlSeen, History, LinkLog
from evercrawl.lab.histories.journal import history_of_crawl
from evercrawl.lab.histories.pooling import pooled
from evercrawl.lab.histories.tables import read_history

__all__ = [
    "APPEARED",
    "CHANGED",
    "REMOVED",
    "TECHNICAL",
    "CrawlSeen",
    "History",
    "LinkLog",
    "find",
    "history_of_crawl",
    "load",
    "pooled",
    "read",
    "read_history",
    "shipped",
]
