"""What shards of a ledger send each other, and what they write down of it."""

from collections.abc import Hashable
from typing import NamedTuple, TypeAlias

from evercrawl.importance.ledger.network import Event


class CashBatch(NamedTuple):
    """Cash on its way from one shard to another.

    Attributes
    ----------
    sender, to
        The shards.
    epoch
        Of the division of pages among shards; a batch of another is not applied.
    number
        From 1 on, of this sender to this receiver.
    amounts
        What pages get; None stands for the virtual page.
    moved, weight
        The sender's: its own part of the clock, what its pages weigh with the virtual page.
    """

    sender: int
    to: int
    epoch: int
    number: int
    amounts: tuple[tuple[Hashable, float], ...]
    moved: float
    weight: float


class Ack(NamedTuple):
    """All batches up to `number`, of `to` to `sender`, have been applied."""

    sender: int
    to: int
    epoch: int
    number: int


class Sent(NamedTuple):
    """Entry: these batches were debited; `spent` is what of the virtual page's cash went to pages of its own."""

    batches: tuple[CashBatch, ...]
    spent: float


class Applied(NamedTuple):
    """Entry: a batch was applied."""

    batch: CashBatch


class Settled(NamedTuple):
    """Entry: a shard has all batches up to a number, so that they need not be kept."""

    shard: int
    number: int


Entry: TypeAlias = Event | Sent | Applied | Settled
