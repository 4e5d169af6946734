"""The neighbourhood of a page: the pages that feed it, their feeders, and the links between all of them."""

from __future__ import annotations

from typing import NamedTuple

from evercrawl.ask.why.inlinks import inlinks
from evercrawl.model.stored.derived.runs import Runs
from evercrawl.model.view import View


class Neighbourhood(NamedTuple):
    """A small subgraph of the crawl.

    Attributes
    ----------
    slots
        Its pages, the requested one first.
    links
        Links between them: source and target as indices into `slots`.
    """

    slots: list[int]
    links: list[tuple[int, int]]


def neighbourhood(view: View, runs: Runs, slot: int, most: int) -> Neighbourhood:
    """Return up to `most` pages around a page: by rounds of in-links, the most important first.

    In-links of one page take at most half of the remaining places, so that a page with many in-links leaves room.
    """
    slots, sources, place = [slot], dict[int, list[int]](), {slot: 0}
    for page in slots:  # the list grows during the loop
        found = inlinks(view.state, runs, page).source.tolist()
        sources[page] = found
        room = max((most - len(slots) + 1) // 2, 0)
        best = sorted({*found} - place.keys(), key=lambda each: -float(view.importance[each]))
        for each in best[:room]:
            place[each] = len(slots)
            slots.append(each)
    links = {(place[each], place[page]) for page in slots for each in sources[page] if each in place and each != page}
    return Neighbourhood(slots, sorted(links))
