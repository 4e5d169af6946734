"""The pages around one: those that bring it importance, those that bring them theirs, and the links between all."""

from __future__ import annotations

from typing import NamedTuple

from evercrawl.ask.why.inlinks import inlinks
from evercrawl.model.stored.derived.runs import Runs
from evercrawl.model.view import View


class Neighbourhood(NamedTuple):
    """A small web cut out of the crawl.

    Attributes
    ----------
    slots
        Its pages, the one that was asked about first.
    links
        Between them, source and target by their places in `slots`.
    """

    slots: list[int]
    links: list[tuple[int, int]]


def neighbourhood(view: View, runs: Runs, slot: int, most: int) -> Neighbourhood:
    """Return up to `most` pages around a page: by rounds of in-links, the most important first.

    Half of what a round finds room for goes to one page at most, so that a page which everybody links to leaves some.
    """
    slots, sources, place = [slot], dict[int, list[int]](), {slot: 0}
    for page in slots:  # which grows meanwhile
        found = inlinks(view.state, runs, page).source.tolist()
        sources[page] = found
        room = max((most - len(slots) + 1) // 2, 0)
        best = sorted({*found} - place.keys(), key=lambda each: -float(view.importance[each]))
        for each in best[:room]:
            place[each] = len(slots)
            slots.append(each)
    links = {(place[each], place[page]) for page in slots for each in sources[page] if each in place and each != page}
    return Neighbourhood(slots, sorted(links))
