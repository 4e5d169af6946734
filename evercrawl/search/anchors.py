"""Link texts by target page, without recent repetitions.

Navigation links repeat the same words for the same targets on every page of a site, so nearly all link texts of a
page were seen before. A hash table of fixed size holds recent pairs of target and words, one in each place; a new
pair overwrites the one in its place. A forgotten pair is returned once more, which does no harm because pairs are
added to a set.

Meaningless words are dropped: a single letter, digits and signs without a letter, a URL. Weak ones such as "next" and
"click here" are kept. No list of these would fit all languages, nor all sites (there are pages about "home"), and
none is needed: words used for every page have almost no weight in ranking, and each pair is indexed only once.
"""

from typing import Final

import numpy as np

from evercrawl.kernels import Library, address_table, pointer
from evercrawl.types import Slots, Spans

_USUAL_LINKS: Final = 1_024
_USUAL_BYTES: Final = 64  # of a link's words
_KERNELS: Final = Library("evercrawl.search._anchors_kernel")


class Anchors:
    """A table of recent pairs of target page and link words.

    Parameters
    ----------
    places
        Maximum number of pairs, 8 bytes each; a power of two.

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
        """Empty the table."""
        self._said[:] = 0

    def new(self, spans: Spans, slots: Slots, text: bytes) -> list[tuple[int, str]]:
        """Return the pairs among one page's links that are not recent, and remember them.

        Parameters
        ----------
        spans
            Start and end of the words in `text`, and index into `slots`; shape (k, 3).
        slots
            The targets' slots, NO_SLOT for targets to ignore.
        text
            Visible text of the page, in UTF-8.

        Returns
        -------
        list[tuple[int, str]]
            Slots, and the words in lower case; in page order.
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
    """The kernel's output buffers, reused from page to page."""

    def __init__(self) -> None:
        self._room = 0
        self._size = np.empty(1, np.int64)

    def fit(self, n: int) -> None:
        """Grow the buffers for a page with `n` links."""
        if n <= self._room:
            return
        self._room = n = max(n, _USUAL_LINKS)
        self._pairs, self._fresh = np.empty(n, np.uint64), np.empty(n, np.int32)
        self.to, self._words = np.empty(n, np.uint32), np.empty(n * _USUAL_BYTES, np.uint8)
        arrays = self._pairs, self._fresh, self.to, self._words
        self.addresses = address_table(*arrays, self._size), len(self._words)

    def lines(self, spans: Spans, text: bytes, count: int) -> list[str]:
        """Return the words of the new pairs, in lower case."""
        size = self._size.item()
        if size >= 0:
            words = self._words[:size].tobytes()
        else:  # visible text contains no newline
            rows: list[tuple[int, int, int]] = spans[self._fresh[:count]].tolist()
            words = b"\n".join([*(text[start:end] for start, end, _ in rows), b""])
        return words.decode("utf-8", "replace").lower().split("\n")[:-1]
