"""What is to be forgotten: the pages and hosts that words of a request mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from evercrawl.config.patterns import UrlPattern
from evercrawl.errors import ConfigError
from evercrawl.parse.urls import hostname, normalise
from evercrawl.store.partition import Partition
from evercrawl.types import NO_SLOT, Keys, Slots

_HOST: Final = re.compile(r"[\w.-]+|\[[0-9a-fA-F:.]+\]")
_PIECE: Final = 1 << 14


class ForgetTargets(NamedTuple):
    """What is to be forgotten.

    Attributes
    ----------
    slots, keys
        The pages, shape (n,) each; the slot is `NO_SLOT` for a URL that the crawl does not know.
    hosts
        Names of hosts; all of their pages are included.
    """

    slots: Slots
    keys: Keys
    hosts: tuple[str, ...]


def _with_root(url: str) -> str:
    """Return the form of a URL in directories from the time when hosts kept the dot of the DNS root.

    >>> _with_root("http://example.org:8080/a")
    'http://example.org.:8080/a'
    """
    start = url.index("//") + 2
    end = start + len(hostname(url))
    return f"{url[:end]}.{url[end:]}"


def targets(partition: Partition, wanted: Sequence[str]) -> ForgetTargets:
    """Return what some words mean: each is a URL, the name of a host, or a regular expression searched for in URLs.

    Raises
    ------
    ConfigError
        A word is none of these, or no known URL matches an expression.
    """
    state, slots, unknown, hosts = partition.state, set[int](), list[int](), list[str]()
    for word in wanted:
        if word.startswith(("http://", "https://")):
            url = normalise(word)
            if url is None:
                raise ConfigError(f"{word!r} is not a URL; name a complete one, a host or an expression")
            found = {state.find_one(url), state.find_one(_with_root(url))} - {NO_SLOT}
            unknown += [] if found else [state.hasher.key(url)]
            slots |= found
        elif _HOST.fullmatch(word):
            host = hostname(normalise(f"http://{word}/") or f"http://{word}/")
            hosts.append(host)
            for name in (host, f"{host}."):
                number = state.hosts.find(name)
                if number is not None:
                    slots |= set(np.flatnonzero(state.known.hosts() == number).tolist())
                    hosts += [name] if name not in hosts else []
        else:
            found = set(_matching(partition, word))
            if not found:
                raise ConfigError(f"no known URL matches {word!r}; name a URL, a host or an expression found in URLs")
            slots |= found
    known = np.array(sorted(slots), np.uint32)
    known = known[~state.forgotten.mask(known)]
    keys = state.table.keys()[known].astype(np.uint64)
    new = [key for key in dict.fromkeys(unknown) if not state.forgotten.has_key(key)]
    return ForgetTargets(
        np.concatenate((known, np.full(len(new), NO_SLOT, np.uint32))),
        np.concatenate((keys, np.array(new, np.uint64))),
        tuple(dict.fromkeys(hosts)),
    )


def _matching(partition: Partition, expression: str) -> Iterator[int]:
    try:
        pattern = UrlPattern(expression)
    except re.error as error:
        raise ConfigError(f"{expression!r} is not a valid expression: {error}; see exclude in the settings") from error
    state = partition.state
    for start in range(0, state.known.count, _PIECE):
        slots = range(start, min(start + _PIECE, state.known.count))
        urls = state.urls.get_many(slots)
        yield from (slot for slot, url in zip(slots, urls, strict=True) if pattern.search(url))
