"""Hashes of what a crawl does, by name, and what was hashed."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


class Notes:
    """Hashes by name.

    Parameters
    ----------
    keep
        Folder for what was hashed; None to forget it.
    """

    def __init__(self, keep: Path | None) -> None:
        self.hashes: dict[str, str] = {}
        self._keep = keep

    def add(self, name: str, said: bytes) -> None:
        """Take down what was said under a name."""
        self.hashes[name] = hashlib.blake2b(said, digest_size=8).hexdigest()
        if self._keep is not None:
            part, _, rest = name.partition("/")
            file = self._keep / part / re.sub(r"[^\w.=-]+", "_", rest)[:200]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(said)

    def add_disk(self, name: str, disk: Any, prefix: str = "") -> None:
        """Take down all files of a disk whose names begin with a prefix."""
        found = [(file, disk.read(file, 0, disk.size(file))) for file in disk.names(prefix)]
        self.add(name, b"".join(f"{file} {len(data)}\n".encode() + data for file, data in found))


def as_json(value: object) -> bytes:
    """Return a value as JSON."""
    return json.dumps(value).encode()
