"""The events of the exchange between partitions of one crawl: letters that were sent, applied and settled."""

from typing import TypeAlias

import msgspec


class LetterSent(msgspec.Struct, array_like=True, tag="m", frozen=True):
    """A letter to another partition of the crawl: cash for its pages, and URLs that were found here.

    Attributes
    ----------
    at
        Time of writing, in seconds since the epoch.
    to, number
        Number of the receiving partition, and of the letter to it, from 1.
    slots, amounts
        The cells from which the cash was taken (`codec.encode_slots`), and the amount of each, f64.
    first, upto
        The slots from `first` to before `upto` include the URLs named for the first time.
    """

    at: float
    to: int
    number: int
    slots: bytes
    amounts: bytes
    first: int
    upto: int


class LetterReceived(msgspec.Struct, array_like=True, tag="r", frozen=True):
    """A letter from another partition was applied.

    Attributes
    ----------
    at
        Time in seconds since the epoch.
    sender, incarnation, number
        Number of the partition, its life, and the number of the letter.
    slots, amounts
        The cells that received cash (`codec.encode_slots`), and the amount of each, f64.
    keys, left
        Keys of URLs that are unknown here, u64, and the cash that waits for each, f64.
    """

    at: float
    sender: int
    incarnation: int
    number: int
    slots: bytes = b""
    amounts: bytes = b""
    keys: bytes = b""
    left: bytes = b""


class LetterSettled(msgspec.Struct, array_like=True, tag="t", frozen=True):
    """Another partition has durably applied all letters up to this number."""

    at: float
    to: int
    upto: int


PostEvent: TypeAlias = LetterSent | LetterReceived | LetterSettled
"""Events of the exchange between partitions of one crawl."""
