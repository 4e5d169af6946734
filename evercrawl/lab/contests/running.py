"""Execution of a comparison's cases in several processes, with storage of completed ones."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from evercrawl.lab.base import Row, Say
from evercrawl.lab.kept_runs import KeptRuns, fingerprint
from evercrawl.simulate.processes import processes


class Runnable(Protocol):
    """A case that makes a row with the column `ratio`; `str` names it in messages, `repr` is its key in the file."""

    def row(self) -> Row:
        """Run the case, and return its row."""
        ...


def rows_of(cases: Sequence[Runnable], jobs: int, say: Say, kept: Path | None = None) -> list[Row]:
    """Return the row of each case, in order; the number of processes does not affect results.

    Parameters
    ----------
    cases
        The cases to run.
    jobs
        Number of processes; with 1, all cases run in this process.
    say
        Progress callback, called with each completed run and the number of runs.
    kept
        A file that stores each row as soon as it is complete; its rows of the same code are not run again. None for no
        file.

    Raises
    ------
    StoreError
        If rows cannot be stored.
    """
    with ExitStack() as stack:
        runs = None if kept is None else stack.enter_context(KeptRuns(kept, fingerprint()))
        found = [None if runs is None else runs.row(repr(case)) for case in cases]
        missing = [place for place, row in enumerate(found) if row is None]
        if len(missing) < len(cases):
            say(f"{len(cases) - len(missing)} of {len(cases)} runs are already in {kept}")
        began, left = time.monotonic(), [cases[place] for place in missing]
        for done, (place, row) in enumerate(zip(missing, _run(left, jobs), strict=True), 1):
            found[place] = row
            if runs is not None:
                runs.keep(repr(cases[place]), row)
            left_s = (time.monotonic() - began) / done * (len(left) - done)
            over = len(cases) - len(left) + done
            say(f"{over} of {len(cases)}: {cases[place]}: {row['ratio']:.3f}{_still(left_s)}")
    return [row for row in found if row is not None]


def row_of(case: Runnable) -> Row:
    """Run a case, and return its row."""
    return case.row()


def _run(cases: Sequence[Runnable], jobs: int) -> Iterator[Row]:
    """Yield the row of each case, in their order."""
    if min(jobs, len(cases)) <= 1:
        yield from map(row_of, cases)
        return
    with processes(min(jobs, len(cases))) as pool:
        yield from pool.map(row_of, cases)


def _still(left_s: float) -> str:
    """Return the estimated remaining time as text; "" if it is less than 5 seconds.

    >>> _still(3.0), _still(50.0), _still(700.0)
    ('', ' (50 s to go)', ' (12 min to go)')
    """
    if left_s < 5:
        return ""
    return f" ({left_s:.0f} s to go)" if left_s < 100 else f" ({left_s / 60:.0f} min to go)"
