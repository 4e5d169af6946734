"""Under which conditions a history is replayed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

DAY_S: Final = 86_400.0
Discovery: TypeAlias = Literal["born", "links"]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a replay spends, what it is told, and of which part of a history.

    Attributes
    ----------
    budget
        Polls per live page and day, spent at a constant rate.
    validators
        Whether pages say when they were changed last (Last-Modified).
    discovery
        How pages become known: `born`, each as soon as there is one; or `links`, when a page that links to it is
        polled. What nothing ever linked to is known when it is born in either case.
    lastmod
        Part of the changes of which a sitemap tells at once.
    sample
        How many pages of each site are drawn; None for all.
    seed
        Of what is drawn.
    years
        How much of the history counts, from its end; 90 % of it where it is shorter.
    since, until
        Instants in place of `years`, in seconds since the epoch; None for those.
    warming
        Part of that time which does not count yet.
    """

    budget: float
    validators: bool = True
    discovery: Discovery = "born"
    lastmod: float = 0.0
    sample: int | None = None
    seed: int = 1
    years: float = 3.0
    since: float | None = None
    until: float | None = None
    warming: float = 1 / 3
