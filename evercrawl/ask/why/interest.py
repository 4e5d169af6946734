"""The factor by which a page counts more than its importance: `[[focus]]`, weights and `discovery`."""

from typing import Final

import numpy as np

from evercrawl.config import Focus
from evercrawl.model.focus import EVEN, discovery_weight, unasked
from evercrawl.model.stored.answers import instant
from evercrawl.model.view import View
from evercrawl.model.worth.weights import IMPORTANCE

_NAMES: Final = ("url", "type", "words")


def wanted(view: View, slot: int, *, never: bool) -> tuple[float, str]:
    """Return the factor by which a page counts more than its importance, and the reasons for it.

    Parameters
    ----------
    view, slot
        The crawl, and the page.
    never
        Whether it was never read.
    """
    if not view.policy.weighs:
        return 1.0, unasked(view.config, view.policy)
    times, reasons = 1.0, list[str]()
    place = int(view.focus.entries(np.array([slot], np.uint32))[0]) if view.focus is not None else -1
    by_cash = view.state.accounts.focused  # then the focus is part of the importance, and no factor
    if place >= 0 and by_cash:
        reasons.append(f"focus, entry {place + 1}, by the virtual page's cash")
    elif place >= 0:
        entry = view.config.focus[place]
        times *= entry.weight
        reasons.append(f"focus, entry {place + 1} ({_named(entry)})")
    for boost in view.boosts.of(view.state.urls.get(slot)) if view.boosts.active else ():
        times *= boost.factor
        end = f" until {instant(boost.until)}" if boost.until else ""
        reasons.append(f"boost on {boost.pattern!r} since {instant(boost.since)}{end}")
    if view.candidates.weighed:
        times *= float(view.candidates.weight_ratio(np.array([slot], np.uint32))[0])
        reasons += [f"weight = {view.weight}"] if view.weight != IMPORTANCE else []
        reasons += ["what lasts of its changes"] if view.config.lasting else []
    if never and view.config.discovery != EVEN and not by_cash:
        times *= discovery_weight(view.config.discovery)
        reasons.append(f"it was never read, and discovery = {view.config.discovery:g}")
    return times, "; ".join(reasons)


def _named(entry: Focus) -> str:
    words = ", ".join(entry.words)
    return "; ".join(
        f"{name} {said}" for name, said in zip(_NAMES, (entry.url, entry.content_type, words), strict=True) if said
    )
