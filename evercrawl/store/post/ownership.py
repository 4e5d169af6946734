"""Which partition of a crawl owns a host: by a hash of its site, so that the pages of a site stay together."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

import msgspec

from evercrawl.arrays.hasher import Hasher
from evercrawl.errors import ConfigError

MOST: Final = 256
"""Partitions of one crawl at most: letters go between any two of them."""
_HASH_BITS: Final = 64


class Share(msgspec.Struct, frozen=True):
    """Which part of a crawl a directory is, fixed when it is made.

    Attributes
    ----------
    number, parts
        Which partition, from 0, of how many: a power of two.
    cluster
        Id of the crawl that all of them are.
    site_rules
        By which rules hosts were grouped into sites at birth; others would give hosts to other partitions.
    """

    number: int
    parts: int
    cluster: str
    site_rules: int

    def __post_init__(self) -> None:
        """See that there is such a partition."""
        if parts_wrong(self.parts) or not 0 <= self.number < self.parts:
            raise ValueError(f"there is no partition {self.number} of {self.parts}")

    def check_rules(self, site_rules: int, directory: object) -> None:
        """See that hosts are grouped into sites as they were at birth.

        Raises
        ------
        ConfigError
            They are not.
        """
        if site_rules and site_rules != self.site_rules:
            raise ConfigError(
                f"{directory} was divided by another public suffix list, and by the one that is installed hosts would "
                "belong to other partitions; install the version of publicsuffixlist that the crawl began with"
            )


def parts_wrong(parts: int) -> str:
    """Return why a crawl cannot have so many partitions; "" where it can.

    >>> parts_wrong(4), parts_wrong(3)
    ('', 'partitions are a power of two, such as 2, 4 or 64, and 256 at most; 3 is not')
    """
    if 1 <= parts <= MOST and parts & (parts - 1) == 0:
        return ""
    return f"partitions are a power of two, such as 2, 4 or 64, and {MOST} at most; {parts} is not"


class Ownership:
    """Says which partition owns which host.

    Parameters
    ----------
    share
        Which part this is.
    hasher
        Hashes under the secret that all partitions share, so that nobody outside can choose where a site goes.
    site
        Host name -> its site, as of a host that links led to.

    Examples
    --------
    >>> share = Share(0, 4, "c", 1)
    >>> own = Ownership(share, Hasher(bytes(16)), lambda host: host.partition(".")[2])
    >>> own.of("a.example") == own.of("b.example"), 0 <= own.of("a.other") < 4
    (True, True)
    """

    def __init__(self, share: Share, hasher: Hasher, site: Callable[[str], str]) -> None:
        self.share = share
        self._shift = _HASH_BITS - (share.parts.bit_length() - 1)
        self._hasher, self._site = hasher, site
        self._of_site = lru_cache(maxsize=1 << 14)(self._hashed)

    @property
    def number(self) -> int:
        """Which partition this is."""
        return self.share.number

    @property
    def parts(self) -> int:
        """How many there are."""
        return self.share.parts

    def of(self, host: str) -> int:
        """Return which partition owns a host."""
        return self._of_site(self._site(host))

    def _hashed(self, site: str) -> int:
        return self._hasher.key(site) >> self._shift if self.parts > 1 else 0
