"""Which pages a page's importance comes from: who links to it, and how much each gives."""

from dataclasses import dataclass

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
        What it gives, as a share of all importance there is.
    internal
        Whether both are of the same site.
    out
        Links it has, among which it divides; 1 for a page that only leads here.
    """

    url: str
    how: str
    gives: float
    internal: bool
    out: int


def feeders(view: View, slot: int, derived: Derived) -> list[Feeder]:
    """Return the pages that give to `slot` by their links as they were last read, the most generous first.

    Parameters
    ----------
    view, slot
        The crawl, and the page.
    derived
        What is derived from its journal.
    """
    links = inlinks(view.state, derived.runs, slot)
    rows = view.state.records.rows
    values = view.importance[links.source] * view.total if view.scheme.handout else rows["importance"][links.record]
    sites = np.array(view.state.site_of[: len(view.state.hosts)])[rows["host"][links.record]]
    own = view.state.site_of[int(view.state.known.row(slot)["host"])]
    found = list[Feeder]()
    urls = view.state.urls.get_many(links.source.tolist())
    for place, url in enumerate(urls):
        through, out = bool(links.through[place]), int(links.out[place])
        gives = view.scheme.each(float(values[place]), Links(out=out, through=through))[
            1 if links.external[place] else 0
        ]
        how = "redirect" if links.outcome[place] == Outcome.REDIRECT else "copy" if through else "link"
        found.append(Feeder(url, how, gives / view.total, bool(sites[place] == own), 1 if through else out))
    return sorted(found, key=lambda feeder: (-feeder.gives, feeder.url))
