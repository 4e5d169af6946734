"""All suspected attempts to mislead a crawl."""

from collections.abc import Callable
from typing import Final

from evercrawl.ask.suspects.degrees import alike_degrees
from evercrawl.ask.suspects.mirrored import mirrored
from evercrawl.ask.suspects.stuffing import stuffing
from evercrawl.model.view import View
from evercrawl.model.web.farms import farms
from evercrawl.model.web.suspicion import Suspicion

DETECTORS: Final[tuple[Callable[[View], list[Suspicion]], ...]] = (farms, mirrored, alike_degrees, stuffing)


def suspects(view: View) -> list[Suspicion]:
    """Return all suspicions grouped by kind, strongest first within each kind.

    Raises
    ------
    StoreError
        The journal or the archive is damaged.
    """
    return [found for detect in DETECTORS for found in sorted(detect(view), key=lambda one: -one.score)]
