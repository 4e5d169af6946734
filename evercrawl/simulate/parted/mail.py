"""A simulated network between partitions that loses, duplicates, delays and reorders messages, and can be cut."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from evercrawl.crawl.posting.carrier import PostStanding
from evercrawl.store.post.messages import Message

LEASE_S = 10.0
"""For so long after it asked a partition may request pages; only then may another process have it."""
RENEWED_S = 2.0


@dataclass(frozen=True, slots=True)
class Roads:
    """The state of the network.

    Attributes
    ----------
    lost, doubled
        Shares of messages lost and duplicated.
    delay_s
        Maximum delay; delays are random, so messages are reordered.
    """

    lost: float = 0.0
    doubled: float = 0.0
    delay_s: float = 0.01


class Mail:
    """Carries messages between the lives of partitions.

    Parameters
    ----------
    draw
        Random source for the fate of each message.
    roads
        The state of the network.

    Attributes
    ----------
    sent, lost, doubled
        Counts of messages so far.
    """

    def __init__(self, draw: random.Random, roads: Roads) -> None:
        self._draw, self.roads = draw, roads
        self._boxes: dict[int, MadePost] = {}
        self._cut: set[frozenset[int]] = set()
        self._alone: set[int] = set()
        self.sent = self.lost = self.doubled = 0

    def open(self, number: int, incarnation: int) -> MadePost:
        """Return the post of a life that begins now; messages in flight to its predecessor are delivered to it."""
        post = self._boxes[number] = MadePost(self, number, incarnation)
        return post

    def cut(self, one: int, other: int) -> None:
        """Cut the connection between two partitions."""
        self._cut.add(frozenset((one, other)))

    def heal(self) -> None:
        """Restore all connections."""
        self._cut.clear()
        self._alone.clear()

    def isolate(self, number: int) -> None:
        """Cut a partition off from all others, and from the issuer of fetch leases."""
        self._alone.add(number)

    def isolated(self, number: int) -> bool:
        """Return whether a partition is cut off."""
        return number in self._alone

    def carry(self, sender: MadePost, message: Message) -> None:
        """Send a message, or lose it."""
        data = msgspec.msgpack.encode(message)
        self.sent += 1
        copies = 1
        if self._draw.random() < self.roads.lost:
            self.lost, copies = self.lost + 1, 0
        elif self._draw.random() < self.roads.doubled:
            self.doubled, copies = self.doubled + 1, 2
        for _ in range(copies):
            after_s = self._draw.uniform(0.0, self.roads.delay_s)
            asyncio.get_running_loop().call_later(after_s, self._arrive, sender, message.to, data)

    def _arrive(self, sender: MadePost, to: int, data: bytes) -> None:
        barred = frozenset((sender.number, to)) in self._cut or {sender.number, to} & self._alone
        if not barred and to in self._boxes:
            self._boxes[to].put(data)


class MadePost:
    """The post of one life of a partition; see `evercrawl.crawl.posting.carrier.Carrier`.

    Attributes
    ----------
    zombie
        Whether another process has taken its place, which it cannot know.
    """

    def __init__(self, mail: Mail, number: int, incarnation: int) -> None:
        self._mail, self.number, self.incarnation = mail, number, incarnation
        self._box: list[bytes] = []
        self._wake: Callable[[], None] = lambda: None
        self._leave_until = asyncio.get_running_loop().time() + LEASE_S
        self.zombie = False

    def send(self, message: Message) -> None:
        """Send a message."""
        self._mail.carry(self, message)

    def take(self) -> list[Message]:
        """Return the messages received."""
        box, self._box = self._box, []
        return [msgspec.msgpack.decode(data, type=Message) for data in box]

    def listen(self, wake: Callable[[], None]) -> None:
        """Have `wake` called when a message arrives."""
        self._wake = wake

    def may_fetch(self) -> bool:
        """Whether the fetch lease is valid."""
        return asyncio.get_running_loop().time() < self._leave_until

    @property
    def leave_until(self) -> float:
        """End of the fetch lease, in seconds of the loop."""
        return self._leave_until

    def report(self, standing: PostStanding) -> None:
        """Do nothing: reports are not used."""

    def pages(self) -> int | None:
        """Return None: unlimited visits."""
        return None

    def ceiling(self) -> float:
        """Return 1: an equal share."""
        return 1.0

    def put(self, data: bytes) -> None:
        """Receive a message."""
        self._box.append(data)
        self._wake()

    async def renew(self) -> None:
        """Renew the lease repeatedly, as long as its issuer can be reached."""
        while True:
            if not self._mail.isolated(self.number) and not self.zombie:
                self._leave_until = asyncio.get_running_loop().time() + LEASE_S
            await asyncio.sleep(RENEWED_S)
