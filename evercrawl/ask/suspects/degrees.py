"""Sites on which most pages have exactly the same numbers of out-links and in-links."""

from typing import Any, Final

import numpy as np

from evercrawl.importance.sites.degrees import Spike, spikes
from evercrawl.model.stored.reader import events
from evercrawl.model.view import View
from evercrawl.model.web.site_graph import OWN, last_read, site_numbers
from evercrawl.model.web.suspicion import Suspicion
from evercrawl.store.journal.codec import decode_slots
from evercrawl.store.journal.events import HAS_LINKS, Visit
from evercrawl.types import NO_SLOT, Ints

KIND: Final = "degrees"
_SHOWN: Final = 3


def alike_degrees(view: View) -> list[Suspicion]:
    """Return the sites whose pages have the same degrees, by the links of their last reads.

    Raises
    ------
    StoreError
        The journal is damaged.
    """
    rows: Any = view.state.records.rows[: view.state.records.count]
    own = rows["slot"][np.isin(rows["outcome"], OWN) & (rows["alias"] == NO_SLOT)]
    out, into = degrees(view)
    site = site_numbers(view.state)[own]
    return [_told(view, spike, own[site == spike.site], out, into) for spike in spikes(site, out[own], into[own])]


def degrees(view: View) -> tuple[Ints, Ints]:
    """Return the out-degree and the in-degree of each known page; shape (known,) each."""
    count, last = view.state.known.count, last_read(view.state)
    out, into = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for pointer, _, event in events(view.partition, view.partition.journal.sequence):
        if isinstance(event, Visit) and event.flags & HAS_LINKS and last.get(event.slot) == pointer:
            targets = decode_slots(event.targets)
            into[targets[targets < count]] += 1  # targets are distinct
            out[event.slot] = event.out
    return out, into


def _told(view: View, spike: Spike, pages: Any, out: Ints, into: Ints) -> Suspicion:
    alike: list[int] = pages[(out[pages] == spike.out) & (into[pages] == spike.into)][:_SHOWN].tolist()
    return Suspicion(
        KIND,
        (view.state.sites[spike.site],),
        f"{spike.pages:,} pages, {spike.part:.0%} of the site, have {spike.out} out-links and {spike.into} in-links "
        f"each; on all other sites, {spike.usual:.0f} pages have as many out-links",
        spike.pages / max(spike.usual, 1.0),
        {name: float(value) for name, value in spike._asdict().items() if name != "site"},
        tuple(view.state.urls.get_many(alike)),
    )
