"""The place of a crawl directory in a crawl of several partitions: its share, the shared secret and the carrier."""

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
    """What a partition is given by the crawl that it belongs to.

    Attributes
    ----------
    share, secret
        The number of the partition, and the secret under which all partitions hash.
    carrier
        Carries messages to the others.
    keeper
        Leads to the keeper of a second copy; None if there is none.
    """

    share: Share
    secret: bytes
    carrier: Carrier
    keeper: KeeperLine | None = None


def see_member(partition: Partition, member: Membership | None, *, only: bool) -> None:
    """Check that a directory is crawled as the partition that it is.

    Raises
    ------
    ConfigError
        It is one partition of several but is to be crawled alone, or it is another partition than expected.
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
    """Check that a crawl without partitions asks for nothing that needs partitions.

    Raises
    ------
    ConfigError
        The settings ask for a second copy.
    """
    if config.durable == "keeper":
        raise ConfigError(
            "durable = keeper needs a crawl in partitions, and this one has none: give --partitions when it is new, or "
            "leave durable out, and copy the crawl now and then: evercrawl backup"
        )
