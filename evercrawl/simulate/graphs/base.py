"""The common form of link graphs: sorted by source, without repeated links or links of a page to itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evercrawl.types import Floats, Ints, Spans


@dataclass(frozen=True, slots=True)
class Web:
    """A link graph of pages 0 to n - 1, as compressed sparse rows.

    Attributes
    ----------
    start
        Start of each page's links in `target`, followed by the total; shape (n + 1,).
    target
        The targets, by source and then by number; shape (links,).
    site
        The site of each page, shape (n,); None if each page is a site of its own.
    root
        The root page of each site, shape (sites,); None if `site` is.
    """

    start: Ints
    target: Spans
    site: Spans | None = None
    root: Spans | None = None

    @classmethod
    def of(
        cls,
        pages: int,
        source: Ints | Spans,
        target: Ints | Spans,
        site: Spans | None = None,
        root: Spans | None = None,
    ) -> Web:
        """Return the graph of some links, without repetitions and self-links.

        Examples
        --------
        >>> web = Web.of(3, np.array([2, 0, 0, 1, 0]), np.array([0, 2, 1, 1, 2]))
        >>> web.start, web.target
        (array([0, 2, 2, 3]), array([1, 2, 0], dtype=int32))
        """
        keys = np.asarray(source, np.int64) * pages + target
        keys.sort()  # in place, because it may take gigabytes and np.unique would copy
        fresh = np.ones(len(keys), bool)
        np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
        fresh &= keys % (pages + 1) != 0  # i * n + i
        keys = keys[fresh]
        start = np.searchsorted(keys, np.arange(pages + 1, dtype=np.int64) * pages)
        keys %= pages
        return cls(start.astype(np.int64), keys.astype(np.int32), site, root)

    @property
    def pages(self) -> int:
        """Number of pages: n."""
        return len(self.start) - 1

    @property
    def links(self) -> int:
        """Number of links."""
        return len(self.target)

    @property
    def out(self) -> Ints:
        """The number of links of each page, shape (n,)."""
        return np.diff(self.start)

    @property
    def into(self) -> Ints:
        """The number of links to each page, shape (n,)."""
        return np.bincount(self.target, minlength=self.pages)

    @property
    def source(self) -> Spans:
        """The source page of each link, shape (links,)."""
        return np.repeat(np.arange(self.pages, dtype=np.int32), self.out)


def zipf(random: np.random.Generator, size: int, exponent: float, most: int) -> Ints:
    """Return whole numbers k from 1 to `most`, with probability proportional to k ** -exponent; shape (size,).

    Examples
    --------
    >>> zipf(np.random.default_rng(1), 5, 2.1, 1)
    array([1, 1, 1, 1, 1])
    """
    below: Floats = np.cumsum(np.arange(1, most + 1, dtype=np.float64) ** -exponent)
    at: Floats = random.random(size) * below[-1]
    return np.searchsorted(below, at, side="right") + np.int64(1)
