"""What partitions of one crawl say to each other."""

from __future__ import annotations

from typing import TypeAlias

import msgspec


class NamedUrl(msgspec.Struct, array_like=True, frozen=True):
    """A URL that a partition found and another has to know, and how it was found: see `events.Discovery`."""

    url: str
    depth: int
    hops: int = 0


class Letter(msgspec.Struct, array_like=True, frozen=True, tag="letter"):
    """Cash for pages of the receiver, and URLs that it has to know.

    Attributes
    ----------
    cluster
        Id of the crawl.
    sender, incarnation, to, number
        Which partition, in which of its lives, to which, and which letter of this pair, from 1.
    keys, amounts
        Keys of URLs, u64, and the cash for each, f64.
    urls
        URLs that were not named in a letter before; cash for them may come in this letter.
    """

    cluster: str
    sender: int
    incarnation: int
    to: int
    number: int
    keys: bytes = b""
    amounts: bytes = b""
    urls: list[NamedUrl] = []


class LetterApplied(msgspec.Struct, array_like=True, frozen=True, tag="applied"):
    """All letters of partition `to` up to a number are applied at the sender of this, and on its disk."""

    cluster: str
    sender: int
    incarnation: int
    to: int
    upto: int


class LeaseAsk(msgspec.Struct, array_like=True, frozen=True, tag="ask"):
    """A partition wants to be the only one that requests anything of an address.

    Attributes
    ----------
    cluster, sender, incarnation, to
        As of a letter.
    key
        Stands for the address; the partition that lets it follows from it.
    serial
        How often the sender gave this address back before: what belongs to an earlier time is out of date.
    asked_at
        When, by the sender's clock.
    holds
        Whether it has the address, and wants it for longer.
    """

    cluster: str
    sender: int
    incarnation: int
    to: int
    key: int
    serial: int
    asked_at: float
    holds: bool = False


class LeaseGrant(msgspec.Struct, array_like=True, frozen=True, tag="grant"):
    """An address may be requested for `lasts_s` from when it was asked for, and not before `rest_s` from now."""

    cluster: str
    sender: int
    incarnation: int
    to: int
    key: int
    serial: int
    asked_at: float
    lasts_s: float
    rest_s: float


class LeaseBack(msgspec.Struct, array_like=True, frozen=True, tag="back"):
    """An address is given back: nothing is under way there any more."""

    cluster: str
    sender: int
    incarnation: int
    to: int
    key: int
    serial: int


class LeaseCensus(msgspec.Struct, array_like=True, frozen=True, tag="census"):
    """Whoever lets addresses has begun anew, and asks who has which."""

    cluster: str
    sender: int
    incarnation: int
    to: int


class LeasesHeld(msgspec.Struct, array_like=True, frozen=True, tag="held"):
    """The addresses that the sender has of the receiver, whose incarnation asked: key -> serial."""

    cluster: str
    sender: int
    incarnation: int
    to: int
    asked_by: int
    held: dict[int, int]


class CommonSums(msgspec.Struct, array_like=True, frozen=True, tag="sums"):
    """What a partition has learned of which all believe the same: the sender's sums, and the how many-th it says."""

    cluster: str
    sender: int
    incarnation: int
    to: int
    number: int
    sums: dict[str, float]


LeaseMessage: TypeAlias = LeaseAsk | LeaseGrant | LeaseBack | LeaseCensus | LeasesHeld
Message: TypeAlias = Letter | LetterApplied | CommonSums | LeaseMessage
