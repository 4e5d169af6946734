"""The complete statistics of a group of pages."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from evercrawl.errors import ConfigError
from evercrawl.lab.histories.evolution.aspects import AspectChanges, PageAspects, aspect_changes
from evercrawl.lab.histories.evolution.clustering import ClusteredChanges, together
from evercrawl.lab.histories.evolution.groups import BY, grouped, neighbours
from evercrawl.lab.histories.evolution.lasting import Lasting, lasting
from evercrawl.lab.histories.evolution.linked import LinkChange, link_change
from evercrawl.lab.histories.evolution.lives import DAY_S, WEEK_S
from evercrawl.lab.histories.evolution.magnitude import Much, much
from evercrawl.lab.histories.evolution.near import Near, near, week_s
from evercrawl.lab.histories.evolution.rate import CLASSES, Often, often
from evercrawl.lab.histories.evolution.record import EvolutionRecord, recorded, split
from evercrawl.lab.histories.evolution.regular import Regularity, regular
from evercrawl.lab.histories.evolution.staying import Staying, Texts, staying
from evercrawl.lab.histories.history import History
from evercrawl.types import Floats, Ints

_WEEKLY_LOOKS: Final = 2
ALL: Final = "all"
"""The group of all pages."""


@dataclass(frozen=True)
class Evolution:
    """The statistics of one group of pages.

    Attributes
    ----------
    group
        Its name.
    pages, alive
        Number of pages that existed at some time, and at the end.
    changes, days
        Number of changes, and of days from the first page's beginning to the last page's end.
    often, much, lasting, links, regular, together, near, staying, aspects
        The families of statistics.
    record
        The observations behind them.
    """

    group: str
    pages: int
    alive: int
    changes: int
    days: float
    often: Often
    much: Much
    lasting: Lasting
    links: LinkChange
    regular: Regularity
    together: ClusteredChanges
    near: Near
    staying: Staying
    aspects: AspectChanges
    record: EvolutionRecord

    def figures(self) -> dict[str, Any]:
        """Return every figure by name; None if it is undefined or infinite."""
        found: dict[str, Any] = {
            "group": self.group, "pages": self.pages, "alive": self.alive, "changes": self.changes, "days": self.days,
        }  # fmt: skip
        for family in (self.often, self.much, self.lasting, self.links, self.regular, self.together,
                       self.near, self.staying, self.aspects):  # fmt: skip
            found |= family._asdict()
        found["classes"] = dict(zip(CLASSES, self.often.classes, strict=True))
        return {name: _finite(value) for name, value in found.items()}


def evolution(
    histories: Sequence[History],
    by: str = "site",
    *,
    chosen: NDArray[np.bool_] | None = None,
    since: float = -math.inf,
    until: float = math.inf,
    texts: Mapping[int, Texts] | None = None,
    aspects: Mapping[int, PageAspects] | None = None,
) -> list[Evolution]:
    """Return the statistics of the pages of histories: by group, and for all pages if there are several groups.

    Parameters
    ----------
    histories
        At least one; pages of different histories are different pages.
    by
        One of `groups.BY`.
    chosen
        Which pages count, in the order of the histories, shape (pages,); None for all.
    since, until
        The period, in seconds since the epoch.
    texts
        Statistics of the versions of pages, by the pages' places; without them, the lasting of texts is undefined.
    aspects
        Aspects of the versions of pages, by the pages' places; without them, changes by aspect are undefined.

    Raises
    ------
    ConfigError
        No page is left.
    """
    groups = grouped(histories, by)
    record = recorded(histories, since, until)
    group = np.where(_alive_at_all(record), groups.group, -1)
    group = group if chosen is None else np.where(chosen, group, -1)
    if not (group >= 0).any():
        raise ConfigError("no page is left: none of the chosen pages existed in that period; choose more pages")
    parts = split(record, group, len(groups.names))
    whole = split(record, np.minimum(group, 0), 1)[0]
    around = _Around(*neighbours(histories), week_s(whole), texts or {}, aspects or {})
    found = [_evolution(name, part, around) for name, part in zip(groups.names, parts, strict=True) if len(part.pages)]
    return [*found, _evolution(ALL, whole, around)] if len(found) > 1 else found


class _Around(NamedTuple):
    """Inputs about all pages: site and folder of each, the length of a week, texts and aspects by page."""

    sites: Ints
    folders: Ints
    week_s: float
    texts: Mapping[int, Texts]
    aspects: Mapping[int, PageAspects]


def _alive_at_all(record: EvolutionRecord) -> NDArray[np.bool_]:
    found = np.zeros(len(record.pages), np.bool_)
    found[record.lives.page] = True
    return found


def _evolution(name: str, part: EvolutionRecord, around: _Around) -> Evolution:
    lives, changes, counts, watched_s = part.lives, part.changes, part.changes_of(), part.watched_s()
    alive, texts = len(np.unique(lives.page[~lives.died])), around.texts
    pages: list[int] = part.pages.tolist()
    return Evolution(
        name, len(part.pages), alive, len(changes.at), float(lives.ended_at.max() - lives.began_at.min()) / DAY_S,
        often(counts, watched_s, part.looks), much(changes), lasting(lives),
        link_change(part.links, float(watched_s.sum()) / WEEK_S), regular(changes),
        together(lives, changes, counts, _dense(part, watched_s)),
        near(part, around.sites[part.pages], around.folders[part.pages], around.week_s),
        staying([texts[page] for page in pages if page in texts]),
        aspect_changes({page: around.aspects[page] for page in pages if page in around.aspects},
                       {page: int(around.folders[page]) for page in pages}),
        part,
    )  # fmt: skip


def _dense(part: EvolutionRecord, watched_s: Floats) -> NDArray[np.bool_]:
    """Return which lives are of pages that were looked at twice a week, or of which every change is on record."""
    enough = np.isnan(part.looks) | (part.looks * WEEK_S >= _WEEKLY_LOOKS * watched_s)
    return np.asarray(enough[part.place(part.lives.page)], np.bool_)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in cast("dict[str, Any]", value).items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


__all__ = ["ALL", "BY", "Evolution", "evolution"]
