"""Ownership of hosts by partitions: by a hash of the site, so that the pages of a site stay together."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

import msgspec

from evercrawl.arrays.hasher import Hasher
from evercrawl.errors import ConfigError

MOST: Final = 256
"""Maximum number of partitions of one crawl, because letters go between any two of them."""
_HASH_BITS: Final = 64


class Share(msgspec.Struct, frozen=True):
    """Which partition of a crawl a directory is; fixed at its creation.

    Attributes
    ----------
    number, parts
        Number of the partition, from 0, and number of partitions, a power of two.
    cluster
        Id of the whole crawl.
    site_rules
        The rules that grouped hosts into sites at creation; other rules would assign hosts to other partitions.
    """

    number: int
    parts: int
    cluster: str
    site_rules: int

    def __post_init__(self) -> None:
        """Check that the number is valid."""
        if parts_wrong(self.parts) or not 0 <= self.number < self.parts:
            raise ValueError(f"there is no partition {self.number} of {self.parts}")

    def check_rules(self, site_rules: int, directory: object) -> None:
        """Check that hosts are grouped into sites by the same rules as at creation.

        Raises
        ------
        ConfigError
            The rules differ.
        """
        if site_rules and site_rules != self.site_rules:
            raise ConfigError(
                f"{directory} was divided by another public suffix list, and with the installed one hosts would "
                "belong to other partitions; install the version of publicsuffixlist that the crawl began with"
            )


def parts_wrong(parts: int) -> str:
    """Return why a crawl cannot have this number of partitions; "" if it can.

    >>> parts_wrong(4), parts_wrong(3)
    ('', 'partitions are a power of two, such as 2, 4 or 64, and 256 at most; 3 is not')
    """
    if 1 <= parts <= MOST and parts & (parts - 1) == 0:
        return ""
    return f"partitions are a power of two, such as 2, 4 or 64, and {MOST} at most; {parts} is not"


class Ownership:
    """Decides which partition owns which host.

    Parameters
    ----------
    share
        This partition.
    hasher
        Hashes under the secret of all partitions, so that outsiders cannot choose the partition of a site.
    site
        Host name -> its site, as for hosts found by links.

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
        """Return the number of this partition."""
        return self.share.number

    @property
    def parts(self) -> int:
        """Return the number of partitions."""
        return self.share.parts

    def of(self, host: str) -> int:
        """Return the partition that owns a host."""
        return self._of_site(self._site(host))

    def _hashed(self, site: str) -> int:
        return self._hasher.key(site) >> self._shift if self.parts > 1 else 0
