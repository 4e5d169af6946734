"""The file in which a crawl that runs says how its proxies do."""

import contextlib
from pathlib import Path
from typing import Final

import msgspec

from evercrawl.fetch.proxies import ProxyHealth

__all__ = ["PROXY_FILE", "note_proxies", "stored_proxies"]

PROXY_FILE: Final = "proxies.json"


def note_proxies(directory: Path, health: list[ProxyHealth]) -> None:
    """Write how proxies do; a disk that is full is no reason to stop."""
    with contextlib.suppress(OSError):
        (directory / PROXY_FILE).write_bytes(msgspec.json.encode(health))


def stored_proxies(directory: Path) -> list[ProxyHealth]:
    """Return how the proxies of a crawl do, as it said last; nothing where it has none, or none has failed."""
    try:
        return msgspec.json.decode((directory / PROXY_FILE).read_bytes(), type=list[ProxyHealth])
    except (OSError, msgspec.DecodeError):
        return []
