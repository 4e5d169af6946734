"""What one pass over a page finds, as Python sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

Bytes: TypeAlias = NDArray[np.uint8]


@dataclass(slots=True)
class Survey:
    """What stands in a page, before any of it is judged.

    Attributes
    ----------
    text
        Visible text in UTF-8, white space folded; shape (n,).
    hrefs
        What links that may be followed say, without fragments; repeated and unresolved.
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


def scan(source: bytes, max_links: int, *, xml: bool = False) -> Survey:
    """Return what stands in a page in UTF-8, of at most `max_links` links; any bytes will do.

    `xml` says that the page came as XHTML, where `<script/>` is a whole element.

    Examples
    --------
    >>> found = scan(b"<title>A</title><p>one<p>two<a href=' b#c'>three</a>", 10)
    >>> found.title, found.text.tobytes(), found.hrefs
    ('A', b'one twothree', ['b'])
    """
    text, links, facts = _kernel()(np.frombuffer(source, np.uint8), max_links, xml)
    survey = Survey(text, links.tobytes().decode("utf-8", "replace").split("\n")[:-1])
    for fact in facts.tobytes().decode("utf-8", "replace").split("\0")[:-1]:
        _learn(survey, fact[0], fact[1:])
    return survey


_FIELDS = {"T": "title", "L": "language", "B": "base", "C": "canonical", "R": "refresh"}


def _learn(survey: Survey, kind: str, value: str) -> None:
    if kind == "M":
        survey.robots.append(value)
    elif not getattr(survey, _FIELDS[kind]):
        setattr(survey, _FIELDS[kind], value)


@cache
def _kernel() -> Callable[[Bytes, int, bool], tuple[Bytes, Bytes, Bytes]]:
    from evercrawl.parse._scan_kernel import scan as kernel  # importing numba takes a third of a second

    return kernel
