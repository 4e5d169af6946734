"""Running of a comparison's cases in several processes, with completed ones stored."""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from evercrawl.lab.base import Row, Say
from evercrawl.lab.kept_runs import KeptRuns, fingerprint
from evercrawl.simulate.processes import processes


class Runnable(Protocol):
    """Makes a row with the column `ratio`; its `str` is told when it is over, its `repr` is what the row is kept by."""

    def row(self) -> Row:
        """Run it, and return what came of it."""
        ...


def rows_of(cases: Sequence[Runnable], jobs: int, say: Say, kept: Path | None = None) -> list[Row]:
    """Return the row of each case, in order; the number of processes does not affect results.

    Parameters
    ----------
    cases
        To be run.
    jobs
        Processes at once; with one, all run in this one.
    say
        Is told of each run that is over, and how many there are.
    kept
        A file that keeps each row as soon as it is there; what it has of the same code is not run again. None for none.

    Raises
    ------
    StoreError
        When rows cannot be kept.
    """
    with ExitStack() as stack:
        runs = None if kept is None else stack.enter_context(KeptRuns(kept, fingerprint()))
        found = [None if runs is None else runs.row(repr(case)) for case in cases]
        missing = [place for place, row in enumerate(found) if row is None]
        if len(missing) < len(cases):
            say(f"{len(cases) - len(missing)} of {len(cases)} runs are there already, in {kept}")
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
    """Return how long it will take yet, as far as can be said; nothing where that is a few seconds.

    >>> _still(3.0), _still(50.0), _still(700.0)
    ('', ' (50 s to go)', ' (12 min to go)')
    """
    if left_s < 5:
        return ""
    return f" ({left_s:.0f} s to go)" if left_s < 100 else f" ({left_s / 60:.0f} min to go)"
