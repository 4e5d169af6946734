"""What the default policy closes of the gap on sites that had no say in its constants, and what each constant is worth.

Each constant is tried at other values, alone, on every history. For each history then all constants are given the
values that do best on the mean of the others, and it is replayed with these: its left-out score. So nothing that is
reported of a site was chosen on it. A value is taken only where it is better by more than its standard error over those
sites: else the usual one stays, for what chance has chosen is worth nothing elsewhere.

Constants that are compiled into kernels are not tried: each value would be another kernel.
"""

from __future__ import annotations

import importlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from evercrawl.lab.backtest.replay import replay
from evercrawl.lab.histories import read
from evercrawl.schedule.clocks import _layout as layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from evercrawl.lab.backtest.setting import ReplaySetting
    from evercrawl.lab.histories import History
    from evercrawl.lab.kept_runs import KeptRuns

_CLOCKS: Final = "evercrawl.schedule.clocks.clocks"
_PRICE: Final = "evercrawl.schedule.shared.by_price"
_PLACES: Final = "evercrawl.schedule.clocks.folder_tables"
_DRAWS: Final = 10_000
ENDS: Final = ("uniform", "notices")


class Constant(NamedTuple):
    """A constant of the default policy, where it is, and which parts or multiples of it are tried; 0 is to do without.

    `key` is that of a dictionary whose value is a pair, a scale in seconds and one in cycles: both are multiplied.
    """

    name: str
    module: str
    attribute: str
    times: tuple[float, ...]
    key: int | None = None


CONSTANTS: Final = (
    Constant("burst", _CLOCKS, "_BURST", (0.0, 0.5, 2.0)),
    Constant("burst lasts", _CLOCKS, "_SCALES", (1 / 3, 3.0), layout.BURST_LASTS),
    Constant("a site's clock varies", _CLOCKS, "_SCALES", (1 / 3, 3.0), layout.SITE_VARIES),
    Constant("a folder's clock varies", _CLOCKS, "_SCALES", (1 / 8, 8.0), layout.FOLDER_VARIES),
    Constant("changes are together within", _CLOCKS, "_SCALES", (1 / 4, 4.0), layout.TOGETHER),
    Constant("first gap between changes", _CLOCKS, "_SCALES", (1 / 4, 4.0), layout.FIRST_GAP),
    Constant("forgotten in a cycle", _CLOCKS, "_FORGET", (0.0, 3.0)),
    Constant("bins in a cycle", _CLOCKS, "_TICKS", (0.5, 2.0)),
    Constant("batches stand out by", _CLOCKS, "_BATCH", (0.5, 2.0)),
    Constant("kin at most", _PLACES, "KIN_PAGES", (0.0, 0.5, 2.0)),
    Constant("age alone", _PRICE, "_LONGING", (0.0, 0.3, 3.0)),
    Constant("harmonic part of new pages", _PRICE, "_NEW_HARMONIC", (0.2, 4.0)),
    Constant("patience in cycles", _PRICE, "_PATIENCE_CYCLES", (0.5, 2.0)),
    Constant("step of the price", _PRICE, "_STEP", (0.3, 3.0)),
)
"""All that can be tried at run time."""

Choice = tuple[tuple[str, float], ...]
"""Constants that are not as usual: their names and the multiples."""


@contextmanager
def set_to(choice: Choice) -> Iterator[None]:
    """Have constants other values, for policies that are made and asked meanwhile."""
    by_name, before = {each.name: each for each in CONSTANTS}, list[tuple[Constant, Any]]()
    for name, times in choice:
        constant = by_name[name]
        before.append((constant, taken(constant)))
        _put(constant, _times(taken(constant), times))
    try:
        yield
    finally:
        for constant, value in reversed(before):
            _put(constant, value)


def taken(constant: Constant) -> Any:
    """Return what a constant is now."""
    value = getattr(importlib.import_module(constant.module), constant.attribute)
    return value if constant.key is None else value[constant.key]


def _put(constant: Constant, value: Any) -> None:
    module = importlib.import_module(constant.module)
    if constant.key is None:
        setattr(module, constant.attribute, value)
    else:
        getattr(module, constant.attribute)[constant.key] = value


def _times(value: Any, times: float) -> Any:
    return tuple(each * times for each in value) if isinstance(value, tuple) else value * times


@dataclass(frozen=True)
class Trials:
    """Replays histories with constants of other values; what was replayed once is kept in a file.

    Attributes
    ----------
    paths, policy, settings
        Of which the score is the mean of the gap closed.
    kept
        What is over.
    """

    paths: Sequence[Path]
    policy: str
    settings: Sequence[ReplaySetting]
    kept: KeptRuns

    def score(self, path: Path, choice: Choice) -> float:
        """Return the gap closed on a history, the mean over the settings."""
        history: History | None = None
        gaps = list[float]()
        for setting in self.settings:
            fresh = dict[str, float]()
            for policy in (*ENDS, self.policy):
                changed = choice if policy == self.policy else ()
                name = f"{path.name} {policy} {setting} {sorted(changed)}"
                row = self.kept.row(name)
                if row is None:
                    history = history or read(path)
                    with set_to(changed):
                        row = {"freshness": replay(history, policy, setting).freshness}
                    self.kept.keep(name, row)
                fresh[policy] = float(row["freshness"])
            gap = fresh["notices"] - fresh["uniform"]
            gaps.append((fresh[self.policy] - fresh["uniform"]) / gap if gap > 0 else float("nan"))
        return float(np.nanmean(gaps))

    def scores(self, choice: Choice) -> np.ndarray:
        """Return those of all histories, shape (histories,)."""
        return np.array([self.score(path, choice) for path in self.paths])


def chosen(usual: np.ndarray, tried: Mapping[Choice, np.ndarray], out: int) -> Choice:
    """Return the constants that are better at another value, by the scores of all sites but one.

    Parameters
    ----------
    usual, tried
        Scores with the usual constants, and with each that was tried alone, shape (sites,).
    out
        Number of the site that has no say.

    Examples
    --------
    On the third site, which has no say, the burst would be better left out; on the others it is not.

    >>> usual, tried = np.array([0.5, 0.5, 0.5]), {(("burst", 0.0),): np.array([0.45, 0.44, 0.9])}
    >>> chosen(usual, tried, out=2), chosen(usual, {(("burst", 0.0),): np.array([0.6, 0.61, 0.2])}, out=2)
    ((), (('burst', 0.0),))
    """
    others, best = np.arange(len(usual)) != out, dict[str, tuple[float, float]]()
    for ((name, times),), scores in tried.items():
        more = (scores - usual)[others]
        sure = float(more.mean() - more.std(ddof=1) / np.sqrt(len(more)))
        if sure > best.get(name, (0.0, 0.0))[0]:
            best[name] = sure, times
    return tuple(sorted((name, times) for name, (_, times) in best.items()))


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return a 95 % interval of the mean of some sites, as if others of their kind had been drawn."""
    drawn = values[np.random.default_rng(1).integers(0, len(values), (_DRAWS, len(values)))].mean(1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)
