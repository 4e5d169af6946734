"""Several histories combined into one, whose pages share one budget."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from evercrawl.errors import ConfigError
from evercrawl.lab.histories.history import History, LinkLog
from evercrawl.types import Ints

_WEEK_S: Final = 7 * 86_400
POOLED: Final = "pooled"
"""The name of the pooled history."""


def pooled(histories: Sequence[History]) -> History:
    """Return one history of all pages: sites and pages are renumbered in order, and events merged by time.

    Each history is shifted by whole weeks, which keeps weekdays and hours, until its last event is less than a week
    before the last of all. The pages of a shorter history do not exist before it begins. Times of visits
    (`History.seen`) are left out.

    Raises
    ------
    ConfigError
        There is no history, or one without events.

    Examples
    --------
    The first ended 15 days before the second, so it is shifted by two weeks:

    >>> none, one, day = np.zeros(0, np.int64), np.zeros(1, np.int64), 86_400
    >>> def of(name, at):
    ...     op, key, links = one.astype(np.int8), one.astype(np.uint64), LinkLog(none, none, none, none.astype(bool))
    ...     return History(name, np.array([at]), one, op, one, one, key, key, ("a",), one, (name,), links)
    >>> both = pooled([of("x", 0), of("y", 15 * day)])
    >>> (both.at / day).tolist(), both.page.tolist(), both.site.tolist(), both.sites
    ([14.0, 15.0], [0, 1], [0, 1], ('x', 'y'))
    """
    for each in histories:
        if not len(each.at):
            raise ConfigError(f"{each.name} is empty, so it cannot be pooled with others; leave it out")
    if not histories:
        raise ConfigError("there is nothing to pool; name one history or more")
    ends = np.array([each.at[-1] for each in histories])
    moves_s = (ends.max() - ends) // _WEEK_S * _WEEK_S
    at = np.concatenate([each.at + move_s for each, move_s in zip(histories, moves_s, strict=True)])
    order = np.argsort(at, kind="stable")
    first = _first([len(each) for each in histories])

    def merged(column: str) -> np.ndarray:
        return np.concatenate([getattr(each, column) for each in histories])[order]

    return History(
        POOLED, at[order], np.concatenate(_moved([each.page for each in histories], first))[order],
        merged("op"), merged("size_bytes"), merged("words"), merged("simhash"), merged("content"),
        tuple(path for each in histories for path in each.paths),
        np.concatenate(_moved([each.site for each in histories], _first([len(each.sites) for each in histories]))),
        tuple(site for each in histories for site in each.sites),
        _links([each.links for each in histories], moves_s, first),
    )  # fmt: skip


def _links(logs: Sequence[LinkLog], moves_s: Ints, first: Ints) -> LinkLog:
    at = np.concatenate([log.at + move_s for log, move_s in zip(logs, moves_s, strict=True)])
    order = np.argsort(at, kind="stable")
    source = np.concatenate(_moved([log.source for log in logs], first))
    target = np.concatenate(_moved([log.target for log in logs], first))
    return LinkLog(at[order], source[order], target[order], np.concatenate([log.present for log in logs])[order])


def _first(lengths: Sequence[int]) -> Ints:
    """Return the new number of the first page (or site) of each history."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[:-1], dtype=np.int64)])


def _moved(numbers: Sequence[Ints], first: Ints) -> list[Ints]:
    return [each + begin for each, begin in zip(numbers, first, strict=True)]
