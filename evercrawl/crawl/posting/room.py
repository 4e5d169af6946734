"""The post room of a partition: it takes messages from the carrier, and passes each to the part that handles it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercrawl.crawl.posting.carrier import PostStanding
from evercrawl.crawl.posting.commons import Commons
from evercrawl.crawl.posting.leases import IpLeases
from evercrawl.crawl.posting.posting import Posting
from evercrawl.crawl.posting.sound import is_sound
from evercrawl.store.post.messages import CommonSums, Letter, LetterApplied

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.config import Config
    from evercrawl.crawl.learn.changes import Changes
    from evercrawl.crawl.learn.learning import Learner
    from evercrawl.crawl.posting.carrier import Carrier
    from evercrawl.crawl.storing import Storing
    from evercrawl.store.partition import Partition


class PostRoom:
    """Answers the messages of other partitions.

    Parameters
    ----------
    partition, learner, storing, post
        As for `Posting`.
    config
        Gives the longest duration of an exchange, and the rest of an address.
    under_way
        Key of an address -> number of exchanges under way there.
    granted
        Called with the key of an address that may be requested, and from when.
    changes
        The beliefs on change, learned together with the others; None if they are not shared.

    Attributes
    ----------
    posting, leases
        The letters; the addresses that may be requested.
    """

    def __init__(
        self,
        partition: Partition,
        learner: Learner,
        storing: Storing,
        post: Carrier,
        config: Config,
        under_way: Callable[[int], int],
        granted: Callable[[int, float], None] = lambda key, since: None,
        changes: Changes | None = None,
    ) -> None:
        self._post = post
        self.posting = Posting(partition, learner, storing, post)
        book = partition.state.post
        assert book is not None, "there are other partitions"
        self._ownership, self._false = book.ownership, 0
        share = book.ownership.share
        self.leases = IpLeases(
            share.cluster, share.number, share.parts, post.incarnation, post.send, under_way,
            exchange_s=config.exchange_deadline_s, rest_s=config.delay_s, granted=granted,
        )  # fmt: skip

        self._commons = None if changes is None else Commons(share, post, changes.sums, changes.take)

    def turn(self, now: float, *, full: bool = False) -> bool:
        """Answer messages, and send what is due; return whether there are new events.

        While the storage is `full`, letters are ignored; their senders send them again. Addresses are leased all the
        same, because others would wait for them.
        """
        letters = list[Letter | LetterApplied]()
        for message in self._post.take():
            if not is_sound(message, self._ownership):
                self._false += 1
            elif isinstance(message, (Letter, LetterApplied)):
                letters.append(message)
            elif isinstance(message, CommonSums):
                if self._commons is not None:
                    self._commons.hear(message)
            else:
                self.leases.hear(message, now)
        self.leases.turn(now)
        if self._commons is not None:
            self._commons.turn(now)
        return not full and self.posting.turn(now, letters)

    @property
    def refused(self) -> int:
        """The number of messages, and of URLs in letters, that were forged, damaged or outdated, and not applied."""
        return self._false + self.posting.stale

    def next_at(self) -> float:
        """Return the time of the next thing to do, apart from messages."""
        commons_at = float("inf") if self._commons is None else self._commons.next_at()
        return min(self.posting.next_at(), self.leases.next_at(), commons_at)

    def report(self, *, at_rest: bool, used: float) -> None:
        """Report the standing of this partition to the carrier."""
        posting, leases = self.posting, self.leases
        self._post.report(
            PostStanding(
                at_rest, used, posting.elsewhere, posting.passed, posting.under_way, leases.held, leases.let,
                self.refused,
            )
        )  # fmt: skip

    def idle(self) -> bool:
        """Whether nothing is owed to other partitions, and nothing is under way."""
        return self.posting.idle()
