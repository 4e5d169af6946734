"""Everything in a crawl that looks like an attempt to mislead it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evercrawl.crawl.degrees import alike_degrees
from evercrawl.crawl.farms import farms
from evercrawl.crawl.mirrored import mirrored
from evercrawl.crawl.stuffing import stuffing

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.crawl.suspicion import Suspicion
    from evercrawl.crawl.view import View

DETECTORS: Final[tuple[Callable[[View], list[Suspicion]], ...]] = (farms, mirrored, alike_degrees, stuffing)


def suspects(view: View) -> list[Suspicion]:
    """Return what looks suspicious, kind by kind, in each the strongest first.

    Raises
    ------
    StoreError
        The journal or the archive is damaged.
    """
    return [found for detect in DETECTORS for found in sorted(detect(view), key=lambda one: -one.score)]
