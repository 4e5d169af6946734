"""A sharded ledger that conserves cash although shards crash and the network loses, duplicates and delays messages.

Each page belongs to one shard. Cash that a shard owes to pages of others waits in its own cells for them, and leaves in
numbered batches. The sender debits and records a batch in one journal entry; the receiver applies it in one entry too,
and only if it is the next from its sender, which keeps it until it is acknowledged. A crash loses what is not synced,
so nothing is sent or acknowledged before it is synced. Then

    cash in all cells + virtual pages' cash + batches not yet applied = all the cash there is

holds whichever shard crashes at any time. A shard counts its own part of the clock G and learns the others' parts from
batches.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from evercrawl.importance.base import Importance
from evercrawl.importance.ledger.batches import Ack, Applied, CashBatch, Entry, Sent, Settled
from evercrawl.importance.ledger.ledger import Ledger
from evercrawl.importance.ledger.network import Event


class Shard(Ledger):
    """One part of a ledger.

    Visit pages of this shard as in `Ledger`, then call `send`, then `sync`, which returns the messages to deliver.

    Parameters
    ----------
    number
        Number of this shard.
    owner
        Function that returns the shard of a page.
    parts
        Number of shards.
    scheme
        The scheme that decides what moves.
    site
        Function that returns the site of a page; the pages of a site should belong to one shard.
    epoch
        Epoch of this division of pages.

    Examples
    --------
    >>> from evercrawl.importance.push import Push
    >>> here, there = (Shard(number, "ab".index, 2, Push(tax=0.5)) for number in (0, 1))
    >>> here.add("a"), here.visit("a", ["b"])
    (None, None)
    >>> here.send()
    >>> batches, _ = here.sync()
    >>> there.receive(batches[0]), there.receive(batches[0])  # the second time it is not the next
    (True, False)
    >>> there.pages["b"].cash
    0.5
    >>> _, acks = there.sync()
    >>> here.settle(acks[0])
    >>> here.outbox
    {}
    """

    def __init__(
        self,
        number: int,
        owner: Callable[[Hashable], int],
        parts: int,
        scheme: Importance,
        *,
        site: Callable[[Hashable], Hashable] = lambda page: page,
        epoch: int = 0,
    ) -> None:
        super().__init__(scheme, at_once=False, site=site)
        self.number, self.owner, self.parts, self.epoch = number, owner, parts, epoch
        self.entries: list[Entry] = []
        self.synced = 0
        self.outbox: dict[tuple[int, int], CashBatch] = {}
        self.applied = dict.fromkeys(range(parts), 0)
        self.moved: float = 0
        self.left: float = 0
        self._numbers = dict.fromkeys(range(parts), 0)
        self._heard: dict[int, tuple[float, float]] = dict.fromkeys(range(parts), (0, 0))
        self._told: dict[int, tuple[float, float]] = dict.fromkeys(range(parts), (0, 0))
        self._owing: dict[int, dict[Hashable, None]] = {part: {} for part in range(parts)}
        self.cells.watchers.append(self._noted)

    # Operations

    def send(self) -> None:
        """Put the cash owed to other shards into batches, and hand out the virtual page's cash to all shards."""
        weights = {part: weight for part, (_, weight) in self._heard.items()} | {self.number: self.cells.weights}
        batches = [self._batch(part, weights) for part in range(self.parts) if part != self.number]
        wanted = tuple(batch for batch in batches if batch.amounts or self._told[batch.to] != batch[-2:])
        spent = self._part(self.number, weights)
        if wanted or spent:
            self.enter(Sent(wanted, spent))

    def receive(self, batch: CashBatch) -> bool:
        """Apply a batch if it is the next from its sender; return whether it was."""
        assert batch.to == self.number, "a batch is for one shard only"
        wanted = batch.epoch == self.epoch and batch.number == self.applied[batch.sender] + 1
        if wanted:
            self.enter(Applied(batch))
        return wanted

    def settle(self, ack: Ack) -> None:
        """Drop the batches that another shard has acknowledged."""
        if ack.epoch == self.epoch and any(key <= (ack.sender, ack.number) for key in self._kept_for(ack.sender)):
            self.enter(Settled(ack.sender, ack.number))

    def sync(self) -> tuple[list[CashBatch], list[Ack]]:
        """Make everything so far durable; return all batches and acknowledgements for others, new or not."""
        self.synced = len(self.entries)
        acks = [Ack(self.number, to, self.epoch, number) for to, number in self.applied.items() if number]
        return list(self.outbox.values()), acks

    def recovered(self) -> Shard:
        """Return the shard as a crash now would leave it: the fold of the synced entries."""
        again = Shard(self.number, self.owner, self.parts, self.scheme, site=self._site, epoch=self.epoch)
        for entry in self.entries[: self.synced]:
            again.enter(entry)
        again.synced = self.synced
        return again

    # State

    def enter(self, entry: Entry) -> None:
        """Apply an entry, when it happens or in a replay."""
        if isinstance(entry, Event):
            self.fold(entry)
            return
        self.entries.append(entry)
        if isinstance(entry, Sent):
            self._send(entry)
        elif isinstance(entry, Applied):
            self._apply(entry.batch)
        else:
            for key in list(self._kept_for(entry.shard)):
                if key <= (entry.shard, entry.number):
                    del self.outbox[key]

    def fold(self, event: Event) -> None:
        """Apply an event of this shard's own pages."""
        assert event.page is not None, "what the virtual page has is handed out when batches are sent"
        self.moved += event.total - self.total
        super().fold(event)
        self.entries.append(event)

    def owed(self) -> float:
        """Return the error of the sum of all cash here and all cash that has left: 0, because cash is conserved."""
        return super().owed() + self.left

    def in_flight(self, others: Iterable[Shard]) -> float:
        """Return the cash in batches kept here that has yet to be applied by the others."""
        applied = {shard.number: shard.applied[self.number] for shard in others}
        waiting = (batch for batch in self.outbox.values() if batch.number > applied[batch.to])
        return sum(amount for batch in waiting for _, amount in batch.amounts)

    def _noted(self, name: Hashable) -> None:
        if (part := self.owner(name)) != self.number:
            self._owing[part][name] = None

    def _kept_for(self, shard: int) -> Iterable[tuple[int, int]]:
        return (key for key in self.outbox if key[0] == shard)

    def _part(self, shard: int, weights: dict[int, float]) -> float:
        """Return the part of the virtual page's cash that is due to the pages of a shard."""
        whole = sum(weights.values())
        return self.virtual * weights[shard] / whole if self.scheme.handout and self.virtual and whole else 0

    def _batch(self, to: int, weights: dict[int, float]) -> CashBatch:
        amounts = [(page, self.pages[page].cash) for page in self._owing[to] if self.pages[page].cash]
        if given := self._part(to, weights):
            amounts.append((None, given))
        number = self._numbers[to] + 1
        return CashBatch(self.number, to, self.epoch, number, tuple(amounts), self.moved, self.cells.weights)

    def _send(self, entry: Sent) -> None:
        for batch in entry.batches:
            self._numbers[batch.to] = batch.number
            self._told[batch.to] = (batch.moved, batch.weight)
            self._owing[batch.to].clear()
            self.outbox[batch.to, batch.number] = batch
            self._take(batch.amounts, -1)
        self._spend(entry.spent)
        self.cells.virtual -= entry.spent

    def _apply(self, batch: CashBatch) -> None:
        self.applied[batch.sender] = batch.number
        self.total += batch.moved - self._heard[batch.sender][0]
        self._heard[batch.sender] = (batch.moved, batch.weight)
        self._take([(page, amount) for page, amount in batch.amounts if page is not None], 1)
        given = sum(amount for page, amount in batch.amounts if page is None)
        self._spend(given)
        self.left -= given

    def _take(self, amounts: Iterable[tuple[Hashable, float]], sign: int) -> None:
        """Add amounts to cells, or subtract them."""
        for page, amount in amounts:
            self.left -= sign * amount
            if page is None:
                self.cells.virtual += sign * amount
            else:
                self.cells.open(page, self.total).key += sign * amount
                self.cells.tell(page)

    def _spend(self, amount: float) -> None:
        """Hand out virtual cash to the pages of this shard, by weight; it waits while there are none."""
        if amount and self.cells.weights:
            self.cells.level.height += amount / self.cells.weights
        elif amount:
            self.cells.virtual += amount
