"""The file in which a running crawl reports the state of its proxies."""

import contextlib
from pathlib import Path
from typing import Final

import msgspec

from evercrawl.decoding import json_of
from evercrawl.fetch.proxies import ProxyHealth
from evercrawl.small_file import LIST_BYTES, read_small

__all__ = ["PROXY_FILE", "note_proxies", "stored_proxies"]

PROXY_FILE: Final = "proxies.json"


def note_proxies(directory: Path, health: list[ProxyHealth]) -> None:
    """Write the state of the proxies; a full disk is ignored."""
    with contextlib.suppress(OSError):
        (directory / PROXY_FILE).write_bytes(msgspec.json.encode(health))


def stored_proxies(directory: Path) -> list[ProxyHealth]:
    """Return the last reported state of a crawl's proxies; empty if it has none or none has failed."""
    try:
        return json_of(read_small(directory / PROXY_FILE, LIST_BYTES), list[ProxyHealth])
    except (OSError, msgspec.DecodeError):
        return []
