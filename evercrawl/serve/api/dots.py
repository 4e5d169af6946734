"""The map of pages: the most important ones, with the data a browser needs to fade their freshness."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.rank.site_states import of_site
from evercrawl.ask.rank.top import largest
from evercrawl.change.gamma import rate
from evercrawl.model.view import View
from evercrawl.serve.asking import Parameters, answer
from evercrawl.serve.context import ServerParts, on_replica
from evercrawl.types import Floats, Slots

DOTS: Final = 5_000
OTHERS: Final = 100
"""Sites whose further pages are told together."""
MAP_S: Final = 5.0
"""How long the map may stand: visits since come to browsers as events."""


@on_replica
def pages_map(parts: ServerParts, request: Request) -> Response:
    """Return up to 5,000 pages: site, importance, and P(fresh) now with the rate at which it decays."""
    given = Parameters(request, "limit", "site")
    most, site = given.whole("limit", DOTS, 1, DOTS), given.text("site", most=253).strip().lower()
    found = parts.replica.rarely(f"map {most} {site}", lambda view: _dots(view, most, site), MAP_S)
    return answer(found, parts.replica.token)


def _dots(view: View, most: int, site: str) -> dict[str, Any]:
    importance = view.importance
    if site:
        here = of_site(view.state, view.state.known.hosts()[: len(importance)], site)
        importance = np.where(here, importance, 0.0)
        most = min(most, int(np.count_nonzero(here)))
    slots = largest(importance, most).astype(np.uint32) if most else np.zeros(0, np.uint32)
    if not len(slots):
        return {"at": view.now, "sites": [], "pages": [], "others": []}
    pages, (seen, _) = view.columns(slots), view.records(slots)
    fresh, rates = view.fresh(pages), rate(pages.shape, pages.scale_s)
    hosts = view.state.known.hosts_of(slots)
    sites = view.state.site_of[hosts]
    numbers, places = np.unique(sites, return_inverse=True)
    dots = [
        [
            view.state.urls.get(slot),
            int(places[i]),
            round(float(view.importance[slot]), 9),
            round(float(fresh[i]), 4) if np.isfinite(fresh[i]) else None,
            float(f"{rates[i]:.4g}") if seen[i] else 0.0,
        ]
        for i, slot in enumerate(slots.tolist())
    ]
    names = [view.state.sites[int(number)] for number in numbers]
    return {"at": view.now, "sites": names, "pages": dots, "others": _others(view, importance, slots)}


def _others(view: View, importance: Floats, slots: Slots) -> list[tuple[str, int, float]]:
    """Return the number and total importance, by site, of the pages not shown; the first hundred sites."""
    left = importance.copy()
    left[slots] = 0.0
    beyond = np.flatnonzero(left > 0).astype(np.uint32)
    of = view.state.site_of[view.state.known.hosts()[beyond]]
    count, weight = np.bincount(of), np.bincount(of, left[beyond])
    first = np.argsort(-weight, kind="stable")[:OTHERS]
    return [(view.state.sites[int(i)], int(count[i]), round(float(weight[i]), 9)) for i in first if count[i]]
