"""Versions of a page: its contents, and when each was seen."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evercrawl.change.extent import extents
from evercrawl.model.stored.derived.kinds import NONE, ChangeKind, brings_version
from evercrawl.model.stored.derived.runs import Runs
from evercrawl.types import Outcome


@dataclass(frozen=True, slots=True)
class PageVersion:
    """One version of a page's content.

    Attributes
    ----------
    at, seen_at
        Start of the first and of the last visit that saw it, in seconds since the epoch.
    visits
        Number of consecutive visits that saw it, not counting later failures.
    digest
        64-bit digest of the bytes.
    size_bytes
        Size of the body.
    extent
        Part that differs from the previous version, 0 to 1, by the similarity hash; None for the first.
    changed
        Whether the words or the title differ from the previous version; otherwise only the markup does.
    status, outcome
        HTTP status and outcome of the visit that brought it.
    visit
        Number of that visit.
    held
        Whether it is still in the archive.
    """

    at: float
    seen_at: float
    visits: int
    digest: int
    size_bytes: int
    extent: float | None
    changed: bool
    status: int
    outcome: Outcome
    visit: int
    held: bool = True


@dataclass(frozen=True, slots=True)
class PageHistory:
    """The history of a page.

    Attributes
    ----------
    versions
        Its versions, the newest first.
    visits
        Number of visits.
    away_at, away_status
        Since when the page is gone or redirects, and its status; None and 0 if it is there.
    """

    versions: tuple[PageVersion, ...]
    visits: int
    away_at: float | None = None
    away_status: int = 0


def history(runs: Runs, slot: int, until: float = np.inf) -> PageHistory:
    """Return the history of a page from visits that began until an instant, in seconds since the epoch."""
    visits = runs.of_page(slot)
    columns = {name: runs.take(name, visits) for name in _COLUMNS}
    upto = columns["at"] <= until
    visits, columns = visits[upto], {name: values[upto] for name, values in columns.items()}
    starts = np.flatnonzero(brings_version(columns["outcome"], columns["flags"]))
    held = np.isin(columns["outcome"], (Outcome.OK, Outcome.TRUNCATED, Outcome.DUPLICATE))
    simhash, words = columns["simhash"][starts], columns["words"][starts]
    parts = extents(simhash[1:], simhash[:-1])
    same = (words[1:] == words[:-1]) & (words[1:] != 0)
    found = list[PageVersion]()
    for i, start in enumerate(starts.tolist()):
        end = int(starts[i + 1]) if i + 1 < len(starts) else len(visits)
        seen = start + np.flatnonzero(held[start:end])
        kind = int(columns["kind"][start])
        found.append(
            PageVersion(
                float(columns["at"][start]),
                float(columns["at"][seen[-1]]),
                len(seen),
                int(columns["digest"][start]),
                int(columns["size"][start]),
                (0.0 if same[i - 1] else float(parts[i - 1])) if i else None,
                kind in (ChangeKind.CHANGED, ChangeKind.FIRST) or not (i and same[i - 1]),
                int(columns["status"][start]),
                Outcome(int(columns["outcome"][start])),
                int(visits[start]),
            )
        )
    return PageHistory(tuple(reversed(found)), len(visits), *_away(columns))


def version_visits(runs: Runs, slot: int) -> list[int]:
    """Return the numbers of the visits that brought the versions of a page, in order."""
    visits = runs.of_page(slot)
    starts = brings_version(runs.take("outcome", visits), runs.take("flags", visits))
    kinds = runs.take("kind", visits)
    told = starts & ((kinds != ChangeKind.NOTHING) | (runs.take("before", visits) == NONE))
    return [int(visit) for visit in visits[told]]


_COLUMNS = ("at", "outcome", "flags", "digest", "simhash", "words", "size", "status", "kind", "state")


def _away(columns: dict[str, NDArray[Any]]) -> tuple[float | None, int]:
    """Return since when a page is gone or redirects, and its status."""
    state = columns["state"]
    if not len(state) or state[-1] not in (Outcome.GONE, Outcome.REDIRECT):
        return None, 0
    there = np.flatnonzero(state != state[-1])
    first = int(there[-1]) + 1 if len(there) else 0
    return float(columns["at"][first]), int(columns["status"][first])
