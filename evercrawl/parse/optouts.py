"""Opt-outs from model training on pages: robots directives and other meta elements.

References
----------
TDM Reservation Protocol (W3C community group report, 2024); DeviantArt (2022), `noai` and `noimageai`.
"""

import re
from collections.abc import Iterable
from typing import Final

from evercrawl.types import OptOut

__all__ = ["of_meta", "of_words"]

_LOOKED_BYTES: Final = 64 << 10
_META: Final = re.compile(rb"<meta\s[^>]{0,500}>", re.IGNORECASE)
_TDM_NAMES: Final = (b"tdm-reservation", b"TDM-Reservation")
_NAME: Final = re.compile(rb"name\s*=\s*[\"']?tdm-reservation[\"'\s/>]", re.IGNORECASE)
_RESERVED: Final = re.compile(rb"content\s*+=\s*+(?:[\"']\s*+)?1[\"'\s/>]", re.IGNORECASE)
_WORDS: Final = {"noai": OptOut.NOAI, "noimageai": OptOut.NOIMAGEAI}


def of_words(words: Iterable[str]) -> int:
    """Return the opt-outs among robots directives in lower case.

    >>> of_words({"noindex", "noai"}) == OptOut.NOAI
    True
    """
    found = 0
    for word in words:
        found |= _WORDS.get(word, 0)
    return found


def of_meta(page: bytes) -> int:
    """Return the opt-outs in a page's meta elements other than those for robots.

    >>> of_meta(b'<meta name="tdm-reservation" content="1">') == OptOut.TDM, of_meta(b'<p>tdm-reservation')
    (True, 0)
    """
    if not any(page.find(name, 0, _LOOKED_BYTES) >= 0 for name in _TDM_NAMES):
        return 0
    elements = (found[0] for found in _META.finditer(page, 0, _LOOKED_BYTES))
    return int(OptOut.TDM) if any(_NAME.search(one) and _RESERVED.search(one) for one in elements) else 0
