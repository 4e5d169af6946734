"""Sums that the partitions of a crawl share: each learns from its own pages and sites, and sends the results.

What a crawl believes of unknown pages (how fast they change, vanish and come back) follows from sums over all sites
and visits. Each partition sends all of its own sums now and then. So the next message makes up for a lost one, a
message that arrives twice or late changes nothing, and an absent partition counts with the last sums that it sent.
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
"""The time between two messages to another partition; longer with many partitions, because there are more pairs."""
AGAIN_S: Final = 120.0
"""The same while nothing has changed: a message may have been lost, or the receiver restarted."""
MOVED: Final = 0.01
"""A sum that has moved by a smaller part than this counts as unchanged."""


class Commons:
    """The sums of one partition and of the others.

    Parameters
    ----------
    share, post
        The number of this partition, and the carrier of messages.
    mine
        Returns the sums of this partition.
    take
        Called with the number and the sums of another partition when they change.
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
        """Take the sums of another partition, unless later ones have arrived."""
        before = self._heard.get(message.sender)
        if before is not None and (before.incarnation, before.number) >= (message.incarnation, message.number):
            return
        if message.sender not in self._others:
            return
        self._heard[message.sender] = message
        self._take(message.sender, message.sums)

    def turn(self, now: float) -> None:
        """Send the sums of this partition if they are due."""
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
        """Return the time of the next thing to do."""
        return self._look_at


def _moved(before: Sums, after: Sums) -> bool:
    """Whether sums have moved by more than `MOVED`.

    >>> _moved({"gone": 100.0}, {"gone": 100.5}), _moved({}, {"gone": 1.0})
    (False, True)
    """
    names = before.keys() | after.keys()
    return any(abs(after.get(name, 0.0) - before.get(name, 0.0)) > MOVED * abs(before.get(name, 0.0)) for name in names)
