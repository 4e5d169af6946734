"""Python interface of the page scanner."""

import threading
from array import array
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evercrawl.kernels import Library, address_table, pointer
from evercrawl.types import Spans

Bytes: TypeAlias = NDArray[np.uint8]

LATELY: Final = 512
"""Of how many links a scan of a small page remembers that it met them; one of so few bytes has hardly more."""

SMALL_BYTES: Final = 1 << 16
"""Of a longer page every link is remembered, so that repeats do not count."""

MAX_SPANS: Final = 10_000
"""Of how many links of a page, repeated ones too, the words are told apart."""

MOST_ROWS: Final = 1 << 18
"""Of links that are remembered; twice what there is of links that are not looked up any more."""

_KERNELS: Final = Library("evercrawl.parse._scan_kernel")


@dataclass(slots=True)
class Survey:
    """The raw results of scanning a page.

    Attributes
    ----------
    text
        Visible text in UTF-8, white space folded.
    hrefs
        Unresolved hrefs of links that may be followed, without fragments; some may be repeated.
    cut
        Number of links omitted because there were too many.
    spans
        Start and end of the links' words in `text`, and index into `hrefs`; shape (k, 3). Links without words, frames
        and `unpaid` links have none; long texts are limited to 200 bytes, and there are at most `MAX_SPANS` rows.
    unpaid, withheld
        Those of `hrefs` that the page does not vouch for (ugc, sponsored); and links it does not allow to be
        followed.
    feeds
        Addresses of the page's feeds.
    title, language, base, canonical, refresh
        The first of its kind, "" if missing; `refresh` is the whole content of the meta element.
    robots
        The contents of the meta elements addressed to robots, or to this crawler.
    """

    text: bytes
    hrefs: list[str]
    spans: Spans
    title: str = ""
    language: str = ""
    base: str = ""
    canonical: str = ""
    refresh: str = ""
    cut: int = 0
    robots: list[str] = field(default_factory=list[str])
    feeds: list[str] = field(default_factory=list[str])
    unpaid: list[str] = field(default_factory=list[str])
    withheld: list[str] = field(default_factory=list[str])


def scan(source: bytes, max_links: int, *, xml: bool = False) -> Survey:
    """Return the survey of a page in UTF-8, with at most `max_links` links; any bytes are accepted.

    Repeated links count once. `xml` says that the page is XHTML, where `<script/>` is a complete element.

    Examples
    --------
    >>> found = scan(b"<title>A</title><p>one<p>two<a href=' b#c'>three</a>", 10)
    >>> found.title, found.text, found.hrefs, found.spans.tolist()
    ('A', b'one twothree', ['b'], [[7, 12, 0]])
    """
    text, links, facts, spans, cut = _parts(source, max_links, xml)
    survey = Survey(text, links.tobytes().decode("utf-8", "replace").split("\n")[:-1], spans, cut=cut)
    for fact in facts.tobytes().decode("utf-8", "replace").split("\0")[:-1]:
        _learn(survey, fact[0], fact[1:])
    return survey


def anchors(spans: Spans, targets: list[int], own: int) -> Spans:
    """Return `Survey.spans` with targets instead of links; shape (k, 3).

    Parameters
    ----------
    spans
        The spans, which are modified.
    targets
        For each of `Survey.hrefs` the index of its target, -1 for none; or empty.
    own
        The target to leave out because it is the page itself; -1 for none.

    Examples
    --------
    >>> found = scan(b"<a href=a>one</a><a href=mailto:b>two</a><a href=c>three</a><a href=.>four</a>", 10)
    >>> anchors(found.spans, [1, -1, 0, 2], own=2).tolist()
    [[0, 3, 1], [6, 11, 0]]
    """
    if not targets:
        return np.empty((0, 3), np.int32)
    left = _KERNELS["lead"](pointer(spans), len(spans), pointer(array("i", targets)), len(targets), own)
    return spans[:left].copy()


_FIELDS = {"T": "title", "L": "language", "B": "base", "C": "canonical", "R": "refresh"}
_LISTS = {"M": "robots", "F": "feeds", "U": "unpaid", "W": "withheld"}


def _learn(survey: Survey, kind: str, value: str) -> None:
    if kind in _LISTS:
        getattr(survey, _LISTS[kind]).append(value)
    elif not getattr(survey, _FIELDS[kind]):
        setattr(survey, _FIELDS[kind], value)


class _Scratch(threading.local):
    """Reusable memory for the calls of one thread: allocating it for each page would cost a tenth of the time."""

    def __init__(self) -> None:
        self.size_bytes = -1
        self.sizes, self.values = np.empty(5, np.int64), np.empty(16, np.int64)

    def fit(self, n: int) -> None:
        """Grow the buffers for a page of `n` bytes."""
        if n <= self.size_bytes:
            return
        self.size_bytes = n = max(n, LEAST_BYTES)
        self.text = np.empty(n + n // 4 + 64, np.uint8)  # a decoded reference is at most a quarter longer than written
        self.links, self.facts = np.empty(3 * n + 64, np.uint8), np.empty(3 * n + 64, np.uint8)
        self.spans = np.empty((n // 8 + 1, 3), np.int32)  # no link is shorter than <a href>
        self.lately = np.empty((_rows(n), 3), np.int32)
        self.addresses = address_table(
            self.text, self.links, self.facts, self.spans, self.lately, self.values, self.sizes
        )


_scratch: Final = _Scratch()
KEPT_BYTES = 1 << 20  # memory for longer pages is not retained
LEAST_BYTES = 1 << 16  # minimum page size that the buffers hold


def _rows(n: int) -> int:
    """Return the number of rows of the link table for a scan of `n` bytes: a power of two."""
    return LATELY if n <= SMALL_BYTES else min(1 << (n // 8).bit_length(), MOST_ROWS)


def _parts(source: bytes, max_links: int, xml: bool) -> tuple[bytes, Bytes, Bytes, Spans, int]:
    """Return text, links, facts, spans and number of omitted links; valid until the next call."""
    n, memory = len(source), _scratch if len(source) <= KEPT_BYTES else _Scratch()
    memory.fit(n)
    rows, most_spans = _rows(n), min(max_links, MAX_SPANS, n // 8 + 1)
    memory.lately[:rows] = 0
    _KERNELS["scan"](source, n, max_links, xml, memory.addresses, len(memory.text), len(memory.facts), most_spans, rows)
    at_text, at_links, at_facts, at_spans, cut = memory.sizes.tolist()
    text, spans = memory.text[:at_text].tobytes(), memory.spans[:at_spans].copy()
    return text, memory.links[:at_links], memory.facts[:at_facts], spans, cut
