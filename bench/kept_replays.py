"""Replays that are kept as they end, so that a table of hours that was interrupted goes on where it was."""

from __future__ import annotations

import gzip
import hashlib
import os
import pickle
from typing import TYPE_CHECKING, Any, TypeVar, cast

from evercrawl.lab.kept_runs import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from evercrawl.lab.backtest.runs import Made, Run

_T = TypeVar("_T")


class KeptReplays:
    """What came of replays by this code, in a folder of this project's own; files that others wrote are not for it.

    Parameters
    ----------
    folder
        Is made when it is needed; None to keep nothing.
    code
        Stands for the code that replays.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> kept = KeptReplays(Path(tempfile.mkdtemp()), "a")
    >>> kept.once("peps, price", lambda: 7), kept.once("peps, price", lambda: 8), kept.once("peps, cycle", lambda: 9)
    (7, 7, 9)
    """

    def __init__(self, folder: Path | None, code: str | None = None) -> None:
        self._folder, self._code = folder, code or fingerprint()

    def once(self, key: str, make: Callable[[], _T]) -> _T:
        """Return what was kept under a key; or make it, and keep it."""
        if self._folder is None:
            return make()
        path = self._path(key)
        return cast("_T", _read(path)) if path.exists() else _write(path, make())

    def made(self, runs: Sequence[Run], make: Callable[[Sequence[Run]], Iterator[Made]]) -> Iterator[Made]:
        """Yield what came of each replay, in order; those that are not kept are made together."""
        if self._folder is None:
            yield from make(runs)
            return
        keys = [key_of(run) for run in runs]
        lacking = {key: run for run, key in zip(runs, keys, strict=True) if not self._path(key).exists()}
        coming = make([*lacking.values()])
        for key in keys:
            path = self._path(key)
            if lacking.pop(key, None) is not None:  # whoever else has made it meanwhile
                yield _write(path, next(coming))
            else:
                yield _read(path)

    def _path(self, key: str) -> Path:
        assert self._folder is not None, "there is a folder to keep them in"
        self._folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(f"{self._code}\0{key}".encode()).hexdigest()[:32]
        return self._folder / f"{name}.replay"


def _read(path: Path) -> Any:
    with gzip.open(path) as file:
        return pickle.load(file)  # our own


def _write(path: Path, made: _T) -> _T:
    part = path.with_suffix(f".{os.getpid()}")
    with gzip.open(part, "wb", compresslevel=1) as file:
        pickle.dump(made, file)
    part.replace(path)
    return made


def key_of(run: Run) -> str:
    """Return what a replay is, in words: histories and how large they are, policy, options and setting."""
    return f"{[told_of(path) for path in run.histories]} {run.policy} {sorted(run.options.items())} {run.setting}"


def told_of(history: Path) -> str:
    """Return a history's name, and how large its events are."""
    events = history.with_name(f"{history.name}.events.parquet")
    return f"{history.name} {events.stat().st_size if events.exists() else 0}"
