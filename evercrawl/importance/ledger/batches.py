"""Messages between shards of a ledger, and the journal entries about them."""

from collections.abc import Hashable
from typing import NamedTuple, TypeAlias

from evercrawl.importance.ledger.network import Event


class CashBatch(NamedTuple):
    """Cash on its way from one shard to another.

    Attributes
    ----------
    sender, to
        Numbers of the shards.
    epoch
        Epoch of the division of pages among shards; a batch of another epoch is not applied.
    number
        Sequence number of this sender to this receiver, from 1.
    amounts
        Amounts of the pages; None is the virtual page.
    moved, weight
        The sender's own part of the clock, and the total weight of its pages with the virtual page.
    """

    sender: int
    to: int
    epoch: int
    number: int
    amounts: tuple[tuple[Hashable, float], ...]
    moved: float
    weight: float


class Ack(NamedTuple):
    """Acknowledgement: all batches up to `number`, from `to` to `sender`, have been applied."""

    sender: int
    to: int
    epoch: int
    number: int


class Sent(NamedTuple):
    """Entry: these batches were debited; `spent` is the virtual page's cash that went to the shard's own pages."""

    batches: tuple[CashBatch, ...]
    spent: float


class Applied(NamedTuple):
    """Entry: a batch was applied."""

    batch: CashBatch


class Settled(NamedTuple):
    """Entry: a shard has acknowledged all batches up to a number, which need no longer be kept."""

    shard: int
    number: int


Entry: TypeAlias = Event | Sent | Applied | Settled
