"""What header fields and robots.txt ask of those who train or feed models.

References
----------
TDM Reservation Protocol (W3C community group report, 2024); Content Signals Policy (contentsignals.org, 2025);
draft-ietf-aipref-attach, Content-Usage.
"""

import re
from collections.abc import Mapping
from typing import Final

from evercrawl.types import OptOut

__all__ = ["of_headers", "signals_of"]

_SIGNALS: Final = {
    "ai-train": OptOut.TRAIN, "train-ai": OptOut.TRAIN, "ai-input": OptOut.INPUT, "search": OptOut.SEARCH,
}  # fmt: skip
_REFUSALS: Final = frozenset({"no", "n"})


def of_headers(headers: Mapping[str, str]) -> int:
    """Return what header fields ask for, apart from X-Robots-Tag.

    >>> of_headers({"tdm-reservation": "1"}) == OptOut.TDM, of_headers({"content-usage": "train-ai=n"}) == OptOut.TRAIN
    (True, True)
    """
    found = OptOut.TDM if headers.get("tdm-reservation", "").strip() == "1" else 0
    for name in ("content-signal", "content-usage"):
        if name in headers:
            found |= signals_of(headers[name])
    return int(found)


def signals_of(value: str) -> int:
    """Return what the value of Content-Signal or Content-Usage refuses.

    >>> signals_of("search=yes, ai-train=no") == OptOut.TRAIN, signals_of("ai-input=no;search=no") == OptOut(48)
    (True, True)
    """
    found = 0
    for part in re.split(r"[,;\s]+", value[:1000].lower()):
        name, _, said = part.partition("=")
        if said.strip() in _REFUSALS:
            found |= _SIGNALS.get(name.strip(), 0)
    return int(found)
