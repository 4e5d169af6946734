"""Messages between partitions of one crawl."""

from __future__ import annotations

from typing import TypeAlias

import msgspec


class NamedUrl(msgspec.Struct, array_like=True, frozen=True):
    """A URL that a partition found and another must know, and how it was found: see `events.Discovery`."""

    url: str
    depth: int
    hops: int = 0


class Letter(msgspec.Struct, array_like=True, frozen=True, tag="letter"):
    """Cash for pages of the receiver, and URLs that it must know.

    Attributes
    ----------
    cluster
        Id of the crawl.
    sender, incarnation, to, number
        Number and life of the sender, number of the receiver, and number of the letter between the two, from 1.
    keys, amounts
        Keys of URLs, u64, and the cash for each, f64.
    urls
        URLs that no letter named before; this letter may have cash for them too.
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
    """The sender has durably applied all letters of partition `to` up to a number."""

    cluster: str
    sender: int
    incarnation: int
    to: int
    upto: int


class LeaseAsk(msgspec.Struct, array_like=True, frozen=True, tag="ask"):
    """A partition asks to be the only one that sends requests to an address.

    Attributes
    ----------
    cluster, sender, incarnation, to
        As in a letter.
    key
        Key of the address, which determines the partition that leases it out.
    serial
        How many times the sender has returned this address; messages about an earlier lease are outdated.
    asked_at
        Time of the question, by the sender's clock.
    holds
        Whether the sender has the address and wants to keep it.
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
    """An address is leased for `lasts_s` from the time of the question, but not before `rest_s` from now."""

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
    """An address is returned: no request to it is under way any more."""

    cluster: str
    sender: int
    incarnation: int
    to: int
    key: int
    serial: int


class LeaseCensus(msgspec.Struct, array_like=True, frozen=True, tag="census"):
    """The partition that leases out addresses has restarted, and asks who has which."""

    cluster: str
    sender: int
    incarnation: int
    to: int


class LeasesHeld(msgspec.Struct, array_like=True, frozen=True, tag="held"):
    """The addresses that the sender has leased from the receiver, whose incarnation asked: key -> serial."""

    cluster: str
    sender: int
    incarnation: int
    to: int
    asked_by: int
    held: dict[int, int]


class CommonSums(msgspec.Struct, array_like=True, frozen=True, tag="sums"):
    """Sums of what a partition has learned about parameters common to all partitions, and their sequence number."""

    cluster: str
    sender: int
    incarnation: int
    to: int
    number: int
    sums: dict[str, float]


LeaseMessage: TypeAlias = LeaseAsk | LeaseGrant | LeaseBack | LeaseCensus | LeasesHeld
Message: TypeAlias = Letter | LetterApplied | CommonSums | LeaseMessage
