"""The verbs, one per file, in a folder for each task."""

from typing import Final

TASKS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "starting": ("start a crawl", ("crawl", "demo", "import_files")),
    "asking": (
        "ask a crawl",
        ("status", "search", "get", "copies", "top", "changes", "why", "plan", "suspects", "export", "select"),
    ),
    "steering": (
        "steer a crawl",
        ("add", "check", "boost", "include", "exclude", "forget", "pause", "resume", "set", "orders"),
    ),
    "serving": ("serve a crawl", ("serve", "mcp", "usage")),
    "keeping": (
        "look after a crawl directory",
        ("verify", "backup", "move", "reindex", "upgrade", "sign", "version"),
    ),
    "laboratory": ("research", ("lab", "backtest", "contest", "evolution", "policies", "simulate")),
}
"""Folder -> its task in words, and the files of its verbs, in the order of the help."""
