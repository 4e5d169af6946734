"""Many replays, sequential or concurrent, in a fixed order."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from evercrawl.lab.backtest.bootstrap import clusters
from evercrawl.lab.backtest.replay import replay
from evercrawl.lab.backtest.replayed import Replayed
from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.backtest.truth import truth
from evercrawl.lab.histories import History, pooled, read
from evercrawl.simulate.processes import SPAWN, processes
from evercrawl.types import Ints

Tell = Callable[[str, float, int], None]
"""Progress callback: the kind of work, the amount done, and the total, in replays."""

_LOOK_S: Final = 0.5  # interval at which the progress of other processes is read
_SHARED: dict[str, Any] = {}  # in a process of the pool: the share done of each replay


@dataclass(frozen=True)
class Run:
    """A replay to run.

    Attributes
    ----------
    histories
        Paths of the histories; several share one budget over all their pages.
    policy, options
        The policy's name, and values of its parameters.
    setting
        The conditions.
    """

    histories: tuple[Path, ...]
    policy: str
    setting: ReplaySetting
    options: Mapping[str, float | str] = field(default_factory=dict[str, float | str])

    def __str__(self) -> str:
        """Return a description: history, policy, budget."""
        name = self.histories[0].name if len(self.histories) == 1 else f"{len(self.histories)} histories"
        return f"{name}, {self.policy} at {self.setting.budget:g}"


class Made(NamedTuple):
    """The outcome of a replay.

    Attributes
    ----------
    replayed
        The results.
    cluster
        Number of each page's cluster for intervals, shape (pages,).
    site, sites
        Index of each page's site in `sites`, shape (pages,); and the names of the sites.
    """

    replayed: Replayed
    cluster: Ints
    site: Ints
    sites: tuple[str, ...]


def planned(
    groups: Sequence[tuple[Path, ...]],
    policies: Mapping[str, Mapping[str, float | str]],
    budgets: Sequence[float],
    setting: ReplaySetting,
) -> list[list[Run]]:
    """Return the replays of each group of histories: all policies at the first budget, then at the next."""
    return [
        [
            Run(group, policy, replace(setting, budget=budget), options)
            for budget in budgets
            for policy, options in policies.items()
        ]
        for group in groups
    ]


def make(runs: Sequence[Run], at_once: int = 1, tell: Tell | None = None) -> Iterator[Made]:
    """Yield the outcome of each replay, in order; in separate processes if `at_once` is more than one.

    Parameters
    ----------
    runs
        The replays.
    at_once
        Number of processes.
    tell
        Progress callback.
    """
    if min(at_once, len(runs)) > 1:
        yield from _in_processes(runs, at_once, tell or _nobody)
        return
    for done, run in enumerate(runs):
        yield _made(run, _telling(tell or _nobody, run, done, len(runs)))


def history(histories: tuple[Path, ...]) -> History:
    """Return a history, or several as one; the last one is cached."""
    return _read(histories)


@lru_cache(maxsize=1)
def _read(histories: tuple[Path, ...]) -> History:
    each = [read(path) for path in histories]
    return each[0] if len(each) == 1 else pooled(each)


def _made(run: Run, progress: Callable[[float], object]) -> Made:
    progress(0.0)  # reading a journal may take a while
    pages = history(run.histories)
    made = replay(pages, run.policy, run.setting, run.options, tell=progress)
    part = truth(pages, run.setting)
    return Made(made, clusters(part.site, part.folder), part.site.astype(np.int64), pages.sites)


def _telling(tell: Tell, run: Run, done: int, total: int) -> Callable[[float], None]:
    return lambda part: tell(str(run), done + part, total)


def _in_processes(runs: Sequence[Run], at_once: int, tell: Tell) -> Iterator[Made]:
    parts = SPAWN.Array("d", len(runs), lock=False)
    with processes(at_once, _share, parts) as pool:
        futures = [pool.submit(_made_elsewhere, run, at) for at, run in enumerate(runs)]
        for run, future in zip(runs, futures, strict=True):
            while not future.done():
                wait([future], _LOOK_S)
                tell(str(run), sum(parts), len(runs))
            yield future.result()


def _share(parts: Any) -> None:
    _SHARED["parts"] = parts


def _made_elsewhere(run: Run, at: int) -> Made:
    parts = _SHARED["parts"]
    made = _made(run, lambda part: parts.__setitem__(at, part))
    parts[at] = 1.0
    return made


def _nobody(what: str, done: float, total: int) -> None:
    return
