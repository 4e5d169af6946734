"""Storage of completed runs, so that an interrupted command can resume."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TextIO

import evercrawl
from evercrawl.errors import StoreError
from evercrawl.lab.base import Row

_PARTS: Final = ("change", "kernels", "lab", "schedule", "simulate")
"""The packages whose code affects the result of a run."""


class KeptRuns:
    """The rows of completed runs, in a file of JSON lines; rows computed by other code are ignored.

    Parameters
    ----------
    path
        The file; its folder is created. Rows of other code and an unfinished line are discarded.
    code
        Fingerprint of the running code (see `fingerprint`).

    Raises
    ------
    StoreError
        The file cannot be read or created.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "systems.runs.jsonl"
    >>> with KeptRuns(path, "a") as runs:
    ...     runs.keep("round, 10 %", {"ratio": 0.5})
    >>> with KeptRuns(path, "a") as runs:
    ...     runs.row("round, 10 %"), runs.row("round, 1 %")
    ({'ratio': 0.5}, None)
    >>> with KeptRuns(path, "b") as runs:
    ...     runs.row("round, 10 %")
    """

    def __init__(self, path: Path, code: str) -> None:
        self._path, self._rows = path, dict[str, "Row"]()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            there = _read(path, code) if path.exists() else []
            new = path.with_name(f"{path.name}.new")
            self._file: TextIO = new.open("w", encoding="utf-8")
            self._write({"code": code})
            for name, row in there:
                self.keep(name, row)
            new.replace(path)
        except OSError as error:
            raise self._trouble(error) from error

    def __enter__(self) -> KeptRuns:
        """Return this."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    def row(self, name: str) -> Row | None:
        """Return the row of the run of that name; None if it is not complete."""
        return self._rows.get(name)

    def keep(self, name: str, row: Row) -> None:
        """Store the row of a run.

        Raises
        ------
        StoreError
            When it cannot be written.
        """
        self._rows[name] = row
        self._write({"run": name, "row": row})

    def _write(self, line: dict[str, Any]) -> None:
        try:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()
        except OSError as error:
            raise self._trouble(error) from error

    def _trouble(self, error: OSError) -> StoreError:
        why = error.strerror or error
        return StoreError(f"cannot keep runs in {self._path}: {why}; name another place for them")


def fingerprint(parts: Sequence[str] = _PARTS) -> str:
    """Return a fingerprint of the code that determines a run's results: a digest of its files.

    Parameters
    ----------
    parts
        The packages of evercrawl, and its modules with their `.py`, that decide.
    """
    root, digest = Path(evercrawl.__file__).parent, hashlib.sha256()
    for part in parts:
        place = root / part
        for file in [place] if place.is_file() else sorted(place.rglob("*.py")):
            digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _read(path: Path, code: str) -> list[tuple[str, Row]]:
    """Return the rows stored by the same code, up to the first invalid line."""
    found = list[tuple[str, "Row"]]()
    try:
        lines: Iterator[dict[str, Any]] = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        for line in lines:
            if line.get("code", code) != code:
                break
            if "code" not in line:
                found.append((line["run"], line["row"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        return found
    return found
