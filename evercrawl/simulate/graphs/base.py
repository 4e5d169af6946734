"""What every web of links promises: who links to whom, by source, each link once and none of a page to itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evercrawl.types import Floats, Ints, Spans


@dataclass(frozen=True, slots=True)
class Web:
    """Pages 0 to n - 1, and where each links: compressed rows.

    Attributes
    ----------
    start
        Where the links of each page begin in `target`, and after the last one where all end; shape (n + 1,).
    target
        The pages linked to, by source and then by number; shape (links,).
    site
        Of each page, shape (n,); None where each page is a site of its own.
    root
        Where a visitor would start on each site, shape (sites,); None where `site` is.
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
        """Return the web of some links, each taken once, and none from a page to itself.

        Examples
        --------
        >>> web = Web.of(3, np.array([2, 0, 0, 1, 0]), np.array([0, 2, 1, 1, 2]))
        >>> web.start, web.target
        (array([0, 2, 2, 3]), array([1, 2, 0], dtype=int32))
        """
        keys = np.asarray(source, np.int64) * pages + target
        keys.sort()  # in place, for it may be gigabytes; np.unique would make copies
        fresh = np.ones(len(keys), bool)
        np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
        fresh &= keys % (pages + 1) != 0  # i * n + i
        keys = keys[fresh]
        start = np.searchsorted(keys, np.arange(pages + 1, dtype=np.int64) * pages)
        keys %= pages
        return cls(start.astype(np.int64), keys.astype(np.int32), site, root)

    @property
    def pages(self) -> int:
        """How many pages there are: n."""
        return len(self.start) - 1

    @property
    def links(self) -> int:
        """How many links there are."""
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
        """The page that each link stands on, shape (links,)."""
        return np.repeat(np.arange(self.pages, dtype=np.int32), self.out)


def zipf(random: np.random.Generator, size: int, exponent: float, most: int) -> Ints:
    """Return whole numbers k from 1 to `most`, k with a probability in proportion to k ** -exponent; shape (size,).

    Examples
    --------
    >>> zipf(np.random.default_rng(1), 5, 2.1, 1)
    array([1, 1, 1, 1, 1])
    """
    below: Floats = np.cumsum(np.arange(1, most + 1, dtype=np.float64) ** -exponent)
    at: Floats = random.random(size) * below[-1]
    return np.searchsorted(below, at, side="right") + np.int64(1)
