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

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.kernels import Library, pointer

if TYPE_CHECKING:
    from evercrawl.types import Slots, Spans

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
        pairs, fresh = np.empty(len(spans), np.uint64), np.empty(len(spans), np.int32)
        page = pointer(spans), len(spans), pointer(slots), len(slots), text, len(text)
        count = _KERNELS["new"](*page, self._table, len(self._said), pointer(pairs), pointer(fresh))
        assert count >= 0, "a span leads out of the text, or out of the targets"
        if not count:
            return []
        rows = spans[fresh[:count]]
        lines = b"\n".join([text[start:end] for start, end, _ in rows.tolist()])  # a visible text holds no newline
        words = lines.decode("utf-8", "replace").lower().split("\n")
        return list(zip(slots[rows[:, 2]].tolist(), words, strict=True))
