"""What makes a crawl directory one partition of a crawl: which part it is, the shared secret, who carries messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evercrawl.errors import ConfigError
from evercrawl.store.post.ownership import Share

if TYPE_CHECKING:
    from evercrawl.config import Config
    from evercrawl.crawl.posting.carrier import Carrier, KeeperLine
    from evercrawl.store.partition import Partition


@dataclass(frozen=True, slots=True)
class Membership:
    """What a partition is given of the crawl that it is part of.

    Attributes
    ----------
    share, secret
        Which part it is, and under which secret all parts hash.
    carrier
        Carries messages to the others.
    keeper
        Leads to the keeper of a second copy; None where there is none.
    """

    share: Share
    secret: bytes
    carrier: Carrier
    keeper: KeeperLine | None = None


def see_member(partition: Partition, member: Membership | None, *, only: bool) -> None:
    """See that a directory is crawled as what it is.

    Raises
    ------
    ConfigError
        It is one partition of several and is to be crawled alone, or is not the partition that it is taken for.
    """
    share = partition.birth.share
    mine = share if isinstance(share, Share) else None
    if mine is not None and member is None and not only:
        above = partition.directory.resolve().parent
        raise ConfigError(
            f"{partition.directory} is one of {mine.parts} partitions of a crawl; crawl all of them: "
            f"evercrawl crawl --dir {above}"
        )
    if member is not None and mine != member.share:
        raise ConfigError(f"{partition.directory} is not partition {member.share.number} of this crawl; move it away")


def see_undivided(config: Config) -> None:
    """See that a crawl without partitions is asked for nothing that only these have.

    Raises
    ------
    ConfigError
        It is to have a second copy.
    """
    if config.durable == "keeper":
        raise ConfigError(
            "durable = keeper needs a crawl in partitions, and this one has none: give --partitions when it is new, or "
            "leave durable out, and copy the crawl now and then: evercrawl backup"
        )
