"""What links say of the pages they lead to: each only when it was not said of late.

A site says the same of the same pages in the margin of each of its pages, so that nearly all that a page's links say
was said before. A table of fixed size remembers what was said of late, one pair of page and words in each place, where
the next pair with that place takes it. Whatever is forgotten comes once more, which does no harm where a pair is added
to a set.

Words that say nothing are left out: a single letter, digits and signs without a letter, a URL. What says little, as
"next" and "click here" do, is let through. No list of such words would fit all languages, nor all sites (there are
pages about "home"), and none is needed: words that are said of everything weigh next to nothing in the ranking, and
they are given only once for each page they are said of.
"""

from typing import Final

import numpy as np

from evercrawl.kernels import Library, address_table, pointer
from evercrawl.types import Slots, Spans

_USUAL_LINKS: Final = 1_024
_USUAL_BYTES: Final = 64  # of the words of a link
_KERNELS: Final = Library("evercrawl.search._anchors_kernel")


class Anchors:
    """Remembers what was said of which page of late.

    Parameters
    ----------
    places
        How many pairs of page and words are remembered at most, 8 bytes each; a power of two.

    Examples
    --------
    >>> anchors, slots = Anchors(), np.array([7, 8], np.uint32)
    >>> spans = np.array([[0, 8, 1], [9, 13, 0], [14, 15, 0]], np.int32)
    >>> anchors.new(spans, slots, b"The Path Next 2")
    [(8, 'the path'), (7, 'next')]
    >>> anchors.new(spans, slots, b"The path NEXT 3")
    []
    """

    def __init__(self, places: int = 1 << 20) -> None:
        assert places.bit_count() == 1, f"{places} is not a power of two"
        self._said = np.zeros(places, np.uint64)
        self._table = pointer(self._said)
        self._memory = _Memory()

    def forget(self) -> None:
        """Take everything for new again."""
        self._said[:] = 0

    def new(self, spans: Spans, slots: Slots, text: bytes) -> list[tuple[int, str]]:
        """Return what the links of one page say that was not said of late; and that it was said now, remember.

        Parameters
        ----------
        spans
            Where words start and end in `text`, and an index into `slots`; shape (k, 3).
        slots
            The targets' slots, NO_SLOT for those of which nothing is to be known.
        text
            Visible text of the page, in UTF-8.

        Returns
        -------
        list[tuple[int, str]]
            Slots, and the words in lower case; in order of the page.
        """
        if not len(spans):
            return []
        memory, n = self._memory, len(spans)
        memory.fit(n)
        page = pointer(spans), n, pointer(slots), len(slots), text, len(text)
        count = _KERNELS["new"](*page, self._table, len(self._said), *memory.addresses)
        assert count >= 0, "a span leads out of the text, or out of the targets"
        if not count:
            return []
        return list(zip(memory.to[:count].tolist(), memory.lines(spans, text, count), strict=True))


class _Memory:
    """What the kernel writes to, kept from page to page."""

    def __init__(self) -> None:
        self._room = 0
        self._size = np.empty(1, np.int64)

    def fit(self, n: int) -> None:
        """Have room for the links of a page that has `n`."""
        if n <= self._room:
            return
        self._room = n = max(n, _USUAL_LINKS)
        self._pairs, self._fresh = np.empty(n, np.uint64), np.empty(n, np.int32)
        self.to, self._words = np.empty(n, np.uint32), np.empty(n * _USUAL_BYTES, np.uint8)
        arrays = self._pairs, self._fresh, self.to, self._words
        self.addresses = address_table(*arrays, self._size), len(self._words)

    def lines(self, spans: Spans, text: bytes, count: int) -> list[str]:
        """Return the words of the links that were found to be new, in lower case."""
        size = self._size.item()
        if size >= 0:
            words = self._words[:size].tobytes()
        else:  # a visible text holds no newline
            rows: list[tuple[int, int, int]] = spans[self._fresh[:count]].tolist()
            words = b"\n".join([*(text[start:end] for start, end, _ in rows), b""])
        return words.decode("utf-8", "replace").lower().split("\n")[:-1]
