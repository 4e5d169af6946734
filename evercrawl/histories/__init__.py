"""Recorded histories of change: what real pages did, read from tables or from the journal of a crawl."""

from evercrawl.histories.find import find, load, read, shipped
from evercrawl.histories.history import APPEARED, CHANGED, REMOVED, TECHNICAL, History, LinkLog, Seen
from evercrawl.histories.journal import history_of_crawl
from evercrawl.histories.pooling import pooled
from evercrawl.histories.tables import read_history

__all__ = [
    "APPEARED",
    "CHANGED",
    "REMOVED",
    "TECHNICAL",
    "History",
    "LinkLog",
    "Seen",
    "find",
    "history_of_crawl",
    "load",
    "pooled",
    "read",
    "read_history",
    "shipped",
]
