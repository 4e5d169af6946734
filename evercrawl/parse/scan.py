"""What one pass over a page finds, as Python sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evercrawl.kernels import Library, pointer

Bytes: TypeAlias = NDArray[np.uint8]

_KERNELS: Final = Library("evercrawl.parse._scan_kernel")


@dataclass(slots=True)
class Survey:
    """What stands in a page, before any of it is judged.

    Attributes
    ----------
    text
        Visible text in UTF-8, white space folded; shape (n,).
    hrefs
        What links that may be followed say, without fragments; repeated and unresolved.
    unpaid, withheld
        Those of `hrefs` that the page does not vouch for (ugc, sponsored); and those it does not let be followed.
    feeds
        Where the page says that its feeds are.
    title, language, base, canonical, refresh
        The first of its kind, "" where there is none; `refresh` is the whole content of the meta element.
    robots
        The contents of the meta elements that speak to robots, or to us.
    """

    text: Bytes
    hrefs: list[str]
    title: str = ""
    language: str = ""
    base: str = ""
    canonical: str = ""
    refresh: str = ""
    robots: list[str] = field(default_factory=list[str])
    feeds: list[str] = field(default_factory=list[str])
    unpaid: list[str] = field(default_factory=list[str])
    withheld: list[str] = field(default_factory=list[str])


def scan(source: bytes, max_links: int, *, xml: bool = False) -> Survey:
    """Return what stands in a page in UTF-8, of at most `max_links` links; any bytes will do.

    `xml` says that the page came as XHTML, where `<script/>` is a whole element.

    Examples
    --------
    >>> found = scan(b"<title>A</title><p>one<p>two<a href=' b#c'>three</a>", 10)
    >>> found.title, found.text.tobytes(), found.hrefs
    ('A', b'one twothree', ['b'])
    """
    text, links, facts = _parts(source, max_links, xml)
    survey = Survey(text, links.tobytes().decode("utf-8", "replace").split("\n")[:-1])
    for fact in facts.tobytes().decode("utf-8", "replace").split("\0")[:-1]:
        _learn(survey, fact[0], fact[1:])
    return survey


_FIELDS = {"T": "title", "L": "language", "B": "base", "C": "canonical", "R": "refresh"}
_LISTS = {"M": "robots", "F": "feeds", "U": "unpaid", "W": "withheld"}


def _learn(survey: Survey, kind: str, value: str) -> None:
    if kind in _LISTS:
        getattr(survey, _LISTS[kind]).append(value)
    elif not getattr(survey, _FIELDS[kind]):
        setattr(survey, _FIELDS[kind], value)


def _parts(source: bytes, max_links: int, xml: bool) -> tuple[Bytes, Bytes, Bytes]:
    """Return text, links and facts of a page, as the kernel writes them."""
    n = len(source)
    text = np.empty(n + n // 4 + 64, np.uint8)  # no reference is longer than a fourth of its length decoded
    links, facts = np.empty(3 * n + 64, np.uint8), np.empty(3 * n + 64, np.uint8)
    values, sizes = np.empty(16, np.int64), np.empty(3, np.int64)
    into = pointer(text), len(text), pointer(links), pointer(facts), len(facts)
    _KERNELS["scan"](source, n, max_links, xml, *into, pointer(values), pointer(sizes))
    at_text, at_links, at_facts = sizes.tolist()
    return text[:at_text], links[:at_links], facts[:at_facts]
