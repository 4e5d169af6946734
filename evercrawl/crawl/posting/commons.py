"""Sums that all partitions of a crawl have in common: each learns from its own pages and sites, and tells the others.

What a crawl believes of pages about which nothing is known (how fast they change, vanish and come back) follows from
sums over all its sites and visits. Each partition sends its own sums now and then, whole: a message that is lost is
made up for by the next, one that comes twice or late changes nothing, and a partition that is away counts by what it
said last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evercrawl.store.post.messages import CommonSums

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.crawl.posting.carrier import Carrier
    from evercrawl.store.post.ownership import Share

Sums = dict[str, float]

EVERY_S: Final = 10.0
"""Between two messages to another partition; with many partitions longer, for there are more pairs."""
AGAIN_S: Final = 120.0
"""The same while nothing has changed: one message may have been lost, or the other begun anew."""
MOVED: Final = 0.01
"""A sum that has moved by less than this part of it has not changed."""


class Commons:
    """The sums of one partition, and those of the others.

    Parameters
    ----------
    share, post
        Which partition this is, and who carries messages.
    mine
        Returns the sums of this partition.
    take
        Told which other partition has which sums, when they change.
    """

    def __init__(
        self, share: Share, post: Carrier, mine: Callable[[], Sums], take: Callable[[int, Sums], None]
    ) -> None:
        self._cluster, self._number, self._post = share.cluster, share.number, post
        self._others = [number for number in range(share.parts) if number != share.number]
        self._every_s, self._mine, self._take = max(EVERY_S, float(share.parts)), mine, take
        self._heard = dict[int, CommonSums]()
        self._said, self._said_at, self._look_at, self._count = Sums(), float("-inf"), 0.0, 0

    def hear(self, message: CommonSums) -> None:
        """Take in what another partition says, unless it has said something later."""
        before = self._heard.get(message.sender)
        if before is not None and (before.incarnation, before.number) >= (message.incarnation, message.number):
            return
        if message.sender not in self._others:
            return
        self._heard[message.sender] = message
        self._take(message.sender, message.sums)

    def turn(self, now: float) -> None:
        """Send the sums of this partition if it is time to."""
        if now < self._look_at:
            return
        self._look_at, sums = now + self._every_s, self._mine()
        if not _moved(self._said, sums) and now < self._said_at + AGAIN_S:
            return
        self._said, self._said_at, self._count = sums, now, self._count + 1
        for to in self._others:
            message = CommonSums(self._cluster, self._number, self._post.incarnation, to, self._count, sums)
            self._post.send(message)

    def next_at(self) -> float:
        """Return when there is next something to do."""
        return self._look_at


def _moved(before: Sums, after: Sums) -> bool:
    """Whether sums are others than before.

    >>> _moved({"gone": 100.0}, {"gone": 100.5}), _moved({}, {"gone": 1.0})
    (False, True)
    """
    names = before.keys() | after.keys()
    return any(abs(after.get(name, 0.0) - before.get(name, 0.0)) > MOVED * abs(before.get(name, 0.0)) for name in names)
