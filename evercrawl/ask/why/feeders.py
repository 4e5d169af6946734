"""Feeders of a page: the pages that its importance comes from, and how much each gives."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evercrawl.ask.why.inlinks import inlinks
from evercrawl.importance.base import Links
from evercrawl.model.stored.derived.derived import Derived
from evercrawl.model.view import View
from evercrawl.types import Outcome


@dataclass(frozen=True, slots=True)
class Feeder:
    """One page that another's importance comes from.

    Attributes
    ----------
    url
        The page.
    how
        "link", "redirect", or "copy" for a page that only leads here, by its content or its canonical URL.
    gives
        Amount that it gives, as a share of all importance.
    internal
        Whether both pages are of the same site.
    out
        Number of its links, among which it divides its importance; 1 for a page that only leads here.
    """

    url: str
    how: str
    gives: float
    internal: bool
    out: int


class FeedingPages(NamedTuple):
    """The pages that another's importance comes from.

    Attributes
    ----------
    first
        The pages that give most, in descending order, equal ones in order of discovery.
    of, gives
        Number of all feeding pages, and their total gift, as a share of all importance.
    """

    first: tuple[Feeder, ...]
    of: int
    gives: float


def feeders(view: View, slot: int, derived: Derived, most: int) -> FeedingPages:
    """Return the pages that give importance to `slot`, by their links as last read.

    Parameters
    ----------
    view, slot
        The crawl, and the page.
    derived
        The files derived from its journal.
    most
        Maximum number of pages in `first`.
    """
    links = inlinks(view.state, derived.runs, slot)
    rows = view.state.records.rows
    values = view.importance[links.source] * view.total if view.scheme.handout else rows["importance"][links.record]
    sites = np.array(view.state.site_of[: len(view.state.hosts)])[rows["host"][links.record]]
    own = view.state.site_of[int(view.state.known.row(slot)["host"])]
    gives = np.array([
        view.scheme.each(value, Links(out=out, through=through))[1 if external else 0]
        for value, out, through, external in zip(
            values.tolist(), links.out.tolist(), links.through.tolist(), links.external.tolist(), strict=True
        )
    ]) / view.total  # fmt: skip
    first = np.lexsort((links.source, -gives))[:most]
    urls = view.state.urls.get_many(links.source[first].tolist())
    found = list[Feeder]()
    for place, url in zip(first.tolist(), urls, strict=True):
        through = bool(links.through[place])
        how = "redirect" if links.outcome[place] == Outcome.REDIRECT else "copy" if through else "link"
        out = 1 if through else int(links.out[place])
        found.append(Feeder(url, how, float(gives[place]), bool(sites[place] == own), out))
    return FeedingPages(tuple(found), len(gives), float(gives.sum()))
