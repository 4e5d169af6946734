"""What the default policy closes of the gap on sites that had no say in its constants, and what each constant is worth.

Each constant is tried at other values, alone, on every history. For each history then all constants are given the
values that do best on the mean of the others, and it is replayed with these: its left-out score. So nothing that is
reported of a site was chosen on it. A value is taken only where it is better by more than its standard error over those
sites: else the usual one stays, for what chance has chosen is worth nothing elsewhere.

Constants that are compiled into kernels are tried too if asked for. Each value is another kernel, so such replays are
made in a process of their own, which compiles the kernels anew: half a minute of CPU for each value.
"""

from __future__ import annotations

import importlib
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from evercrawl.kernels.cache import VARIABLE
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
_LAYOUT: Final = "evercrawl.schedule.clocks._layout"
_SITES: Final = "evercrawl.schedule.clocks._sites"
_TRUING: Final = "evercrawl.schedule.clocks._truing"
_CHANCES: Final = "evercrawl.schedule.clocks._chances"
_LEARNING: Final = "evercrawl.schedule.clocks._learn_kernel"
_DRAWS: Final = 10_000
ENDS: Final = ("uniform", "notices")


class Constant(NamedTuple):
    """A constant of the default policy, where it is, and which parts or multiples of it are tried; 0 is to do without.

    `attribute` may name several that are multiplied together, such as `a,b`. `key` is that of a dictionary whose value
    is a pair, a scale in seconds and one in cycles: both are multiplied.
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
COMPILED: Final = (
    Constant("weight of a folder's and a site's mean", _SITES, "GAPS", (1 / 3, 3.0)),
    Constant("shape of rates by time alone", _SITES, "PLAIN_SHAPE", (0.5, 2.0)),
    Constant("weight of the usual factor of a part", _SITES, "_PRIOR", (1 / 4, 4.0)),
    Constant("weight of the first spread of rates", _SITES, "_FIRST_EXCESS,_FIRST_SPREAD", (1 / 4, 4.0)),
    Constant("weight of the whole crawl's gain", _LAYOUT, "GAINED", (1 / 4, 4.0)),
    Constant("first belief in clocks", _LAYOUT, "BELIEVED", (0.3, 3.0)),
    Constant("weight of that belief", _LAYOUT, "BELIEVED_SITES", (1 / 4, 4.0)),
    Constant("forgotten of models and parts", _LAYOUT, "SHARE", (1 / 4, 4.0)),
    Constant("pages with a clock of their own", _LAYOUT, "OWN_RING", (0.5, 4.0)),
    Constant("weight of uncalibrated P(fresh)", _TRUING, "_PRIOR", (1 / 4, 4.0)),
    Constant("calibration forgotten in a visit", _TRUING, "_FADES", (1 / 3, 3.0)),
    Constant("predictions of a bin are alike", _TRUING, "_ALIKE", (0.0, 10.0)),
    Constant("chance to join at most", _CHANCES, "_MOST", (0.8, 1.04)),
    Constant("restless from this rate on", _LEARNING, "_RESTLESS", (0.5, 4.0)),
    Constant("pages of a name are together within", _LEARNING, "_DAY_TOGETHER", (1 / 4, 4.0)),
)
"""Those that kernels contain: each value needs kernels of its own (`Apart`)."""
LASTING: Final = ExitStack()
"""What `prepare` has set."""
_BY_NAME: Final = {each.name: each for each in (*CONSTANTS, *COMPILED)}

Choice = tuple[tuple[str, float], ...]
"""Constants that are not as usual: their names and the multiples."""


@contextmanager
def set_to(choice: Choice) -> Iterator[None]:
    """Have constants other values, for policies that are made and asked meanwhile, and kernels that are compiled."""
    with ExitStack() as before:
        for name, times in choice:
            constant = _BY_NAME[name]
            for attribute in constant.attribute.split(","):
                value = _value(constant, attribute)
                before.callback(_put, constant, attribute, value)
                _put(constant, attribute, _times(value, times))
        yield


def taken(constant: Constant) -> Any:
    """Return what a constant is now; of several, the values."""
    values = tuple(_value(constant, attribute) for attribute in constant.attribute.split(","))
    return values if len(values) > 1 else values[0]


def _value(constant: Constant, attribute: str) -> Any:
    value = getattr(importlib.import_module(constant.module), attribute)
    return value if constant.key is None else value[constant.key]


def _put(constant: Constant, attribute: str, value: Any) -> None:
    """Give a constant another value, also in the modules that have imported it."""
    module = importlib.import_module(constant.module)
    if constant.key is not None:
        getattr(module, attribute)[constant.key] = value
        return
    before = getattr(module, attribute)
    for name, other in [*sys.modules.items()]:
        if name.startswith("evercrawl.schedule") and vars(other).get(attribute) is before:
            setattr(other, attribute, value)


def _times(value: Any, times: float) -> Any:
    if isinstance(value, tuple):
        return tuple(each * times for each in value)
    return type(value)(value * times)


class Apart:
    """A process that replays with certain constants, with kernels that were compiled for it alone."""

    def __init__(self) -> None:
        self._choice: Choice = ()
        self._process: ProcessPoolExecutor | None = None

    def freshness(self, path: Path, policy: str, setting: ReplaySetting, choice: Choice) -> float:
        """Return the freshness of a replay; the process is kept for further ones with the same constants."""
        if self._process is None or self._choice != choice:
            self.end()
            self._choice = choice
            self._process = ProcessPoolExecutor(1, get_context("spawn"), prepare, (choice,))
        return self._process.submit(freshness, path, policy, setting).result()

    def end(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.shutdown()
        self._process = None


def prepare(choice: Choice) -> None:
    """Give constants other values until `LASTING` is closed, and let this process compile its kernels with them."""
    os.environ[VARIABLE] = "jit"
    LASTING.enter_context(set_to(choice))


def freshness(path: Path, policy: str, setting: ReplaySetting) -> float:
    """Return the freshness of a replay."""
    return float(replay(read(path), policy, setting).freshness)


@dataclass(frozen=True)
class Trials:
    """Replays histories with constants of other values; what was replayed once is kept in a file.

    Attributes
    ----------
    paths, policy, settings
        Of which the score is the mean of the gap closed.
    kept
        What is over.
    apart
        Replays with constants that are compiled in.
    """

    paths: Sequence[Path]
    policy: str
    settings: Sequence[ReplaySetting]
    kept: KeptRuns
    apart: Apart = field(default_factory=Apart)

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
                if row is None and any(_BY_NAME[one] in COMPILED for one, _ in changed):
                    row = {"freshness": self.apart.freshness(path, policy, setting, changed)}
                    self.kept.keep(name, row)
                elif row is None:
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
