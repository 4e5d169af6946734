"""Worlds as JSON lines, so that stored worlds stay the same when the generator changes.

The first line of a file is the template: a life with all its fields, including its settings. Each world follows on a
line of its own. A life contains only its differences from the template, and its settings only their differences from
the previous life. So a new default changes no stored world.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

import msgspec

from evercrawl.config import Config
from evercrawl.simulate.worlds.world import Life, LifeEnd, World

_PATTERN: Final = Life(Config(), LifeEnd.TIME, 0.0)


def write(worlds: Iterable[World], pattern: Life = _PATTERN) -> Iterator[bytes]:
    """Yield the lines for worlds; `read` returns the same worlds.

    Examples
    --------
    >>> from evercrawl.simulate.worlds.world import drawn
    >>> list(read(write([drawn(7), drawn(8)]))) == [drawn(7), drawn(8)]
    True
    """
    usual: dict[str, Any] = msgspec.to_builtins(pattern)
    yield msgspec.json.encode(usual)
    for world in worlds:
        told = msgspec.to_builtins(world)
        settings, lives = usual["config"], list[dict[str, Any]]()
        for life in told["lives"]:
            lives.append(_different(life, usual) | {"config": _different(life["config"], settings)})
            settings = life["config"]
        yield msgspec.json.encode(told | {"lives": lives})


def read(lines: Iterable[bytes]) -> Iterator[World]:
    """Yield the worlds in these lines."""
    coming = iter(lines)
    usual: dict[str, Any] = msgspec.json.decode(next(coming))
    for line in coming:
        told = msgspec.json.decode(line)
        settings, lives = usual["config"], list[Life]()
        for life in told["lives"]:
            settings = settings | life["config"]
            lives.append(msgspec.convert(usual | life | {"config": settings}, Life))
        yield replace(msgspec.convert(told | {"lives": []}, World), lives=tuple(lives))


def _different(said: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    """Return the entries that differ from the defaults."""
    return {name: value for name, value in said.items() if name not in usual or value != usual[name]}
