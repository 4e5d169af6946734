"""The pages as a picture: the most important ones one by one, with what a browser needs to let their freshness fade."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from evercrawl.ask.rank.top import largest
from evercrawl.change.gamma import rate
from evercrawl.model.view import View
from evercrawl.serve.asking import Parameters, answer
from evercrawl.serve.context import ServerParts, on_replica

DOTS: Final = 5_000
MAP_S: Final = 5.0
"""How long the map may stand: visits since come to browsers as events."""


@on_replica
def pages_map(parts: ServerParts, request: Request) -> Response:
    """Answer with up to 5,000 pages: site, importance, and P(fresh) now with the rate at which it fades."""
    most = Parameters(request, "limit").whole("limit", DOTS, 1, DOTS)
    found = parts.replica.rarely(f"map {most}", lambda view: _dots(view, most), MAP_S)
    return answer(found, parts.replica.token)


def _dots(view: View, most: int) -> dict[str, Any]:
    slots = largest(view.importance, most).astype(np.uint32)
    if not len(slots):
        return {"at": view.now, "sites": [], "pages": [], "others": []}
    pages, (seen, _) = view.columns(slots), view.records(slots)
    fresh, rates = view.fresh(pages), rate(pages.shape, pages.scale_s)
    hosts = view.state.known.rows()["host"][slots]
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
    return {"at": view.now, "sites": [view.state.sites[int(number)] for number in numbers], "pages": dots}
