"""Recorded histories of change: what real pages did, read from tables or from the journal of a crawl."""

from evercrawl.histories.history import APPEARED, CHANGED, REMOVED, TECHNICAL, History, LinkLog
from evercrawl.histories.tables import read_history

__all__ = ["APPEARED", "CHANGED", "REMOVED", "TECHNICAL", "History", "LinkLog", "read_history"]
