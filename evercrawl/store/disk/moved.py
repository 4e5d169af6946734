"""The note in a directory whose partition was moved: it names the new directory, so that nobody uses the old one."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.decoding import json_of
from evercrawl.errors import ConfigError
from evercrawl.store.disk.plain import read_piece

if TYPE_CHECKING:
    from pathlib import Path

MOVED: Final = "moved.json"
LEAVING: Final = "leaving.json"
"""File in both directories of a partition that is being moved to another machine; removed once it crawls there."""
_MOST: Final = 16 << 10


def moved_to(goal: Path | str, life: int) -> bytes:
    """Return the content of the note: the partition is in `goal`, and `life` processes had been started.

    The goal is a directory of this machine, or a description of another machine.
    """
    return msgspec.json.encode({"goal": str(goal), "life": life})


def see_unmoved(directory: Path) -> None:
    """Check that the partition in a directory was not moved to another one.

    Raises
    ------
    ConfigError
        It was moved; the message says where.
    """
    with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError, KeyError):
        goal = json_of(read_piece(directory / MOVED, 0, _MOST), dict[str, object])["goal"]
        use = f"use --dir {goal}" if str(goal).startswith("/") else "ask there, or give --dir the crawl's directory"
        raise ConfigError(
            f"the partition that was in {directory} was moved to {goal}; {use}. What is in {directory} is old and can "
            "be removed"
        )
