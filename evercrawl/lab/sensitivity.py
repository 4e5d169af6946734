"""What it costs to begin with a wrong prior, or with too much patience or too little."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, NamedTuple

from evercrawl.lab.base import Claim, Experiment, Findings
from evercrawl.lab.cells import drawn
from evercrawl.lab.contest import PAGES, TURNS, listed, mean, plain, seeds, tried
from evercrawl.lab.wrong import Fixed, Patient, prior_of
from evercrawl.schedule.price_gamma import PriceGamma
from evercrawl.simulate.polling import Conditions, Polling
from evercrawl.simulate.population import DAY_S

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evercrawl.lab.base import Options, Row, Say

BUDGETS: Final = (0.01, 0.1, 1.0)
SHAPES: Final = (0.2, 0.3, 0.4, 0.5, 1.0, 2.0)
TIMES: Final = (10.0, 0.1)
PATIENCE: Final = (0.0, 2.0, 20.0, 1e6)
_SHAPE: Final = 0.4
_NAMES: Final = {0.0: "as shipped", 2.0: "2 cycles", 20.0: "20 cycles", 1e6: "no end"}
_CONDITIONS: Final = Conditions(steps=25)
_WITHIN: Final = 0.01  # or half of what was printed
_ALIKE: Final = 0.015
_PRINTED: Final = {1.0: (0.057, 0.014, 0.002), 2.0: (0.087, 0.02, 0.004)}
_PRINTED_TIMES: Final = (0.035, 0.015, 0.001)
_PRINTED_SECOND: Final[dict[str, Sequence[float]]] = {"no end": (0.83, 0.76, 0.75), "20 cycles": (0.91, 0.88, 0.84)}


class Trial(NamedTuple):
    """One run of the plain Gamma index.

    Attributes
    ----------
    shape, times
        Of a prior that is one for all and stays: its shape, and by what its mean is wrong; shape 0 for priors that are
        learned host by host.
    patience
        With new pages, in cycles of all pages; 0 for as it is shipped, by the pages that were read.
    pages, seed, budget, cycles
        As in a `Cell`.
    """

    shape: float
    times: float
    patience: float
    pages: int
    seed: int
    budget: float
    cycles: float

    @property
    def label(self) -> str:
        """What the row is called."""
        if not self.shape:
            return f"patience {_NAMES[self.patience]}"
        return f"prior shape {self.shape:g}" if self.times == 1 else f"prior mean x {self.times:g}"

    def __str__(self) -> str:
        """Return what is told of it."""
        return f"{self.label}, seed {self.seed}, {100 * self.budget:g} %"

    def row(self) -> Row:
        """Run it; `second` is the part of the optimum that is reached in the second cycle."""
        began, pages = time.perf_counter(), drawn(self.pages, self.seed, 0.0)
        policy = Patient(self.patience * DAY_S / self.budget) if self.patience else PriceGamma()
        polling = Polling(policy, pages, self.budget, self.seed, _CONDITIONS)
        if self.shape:
            prior = prior_of(pages.lam_per_s, self.shape, self.times)
            polling.held.beliefs = Fixed(pages.host, prior, forget=_CONDITIONS.forget, cycle_s=polling.cycle_s)
        found = polling.run(self.cycles, self.cycles / 2)
        second = found.by_cycle[min(1, len(found.by_cycle) - 1)] / found.optimum
        return {
            "policy": self.label, "correlation": 0.0, "seed": self.seed, "budget": self.budget, "ratio": found.ratio,
            "value": found.value, "optimum": found.optimum, "second": second, "seconds": time.perf_counter() - began,
        }  # fmt: skip


class Sensitivity(Experiment):
    """What the plain Gamma index loses by a prior of another shape or mean, and by more or less patience.

    The prior is one for all pages, and its mean logarithm is that of all rates, unless it is wrong by purpose. Patience
    is tried with priors that are learned host by host: some cycles of all pages, no end, and as it is shipped, some
    cycles of the pages that were read.
    """

    pages = PAGES
    turns = TURNS

    def run(self, options: Options, say: Say) -> Findings:
        """Run them all, where importance and rates do not correlate."""
        plain(options, "sensitivity")
        pages, cycles = options.pages or PAGES, float(options.turns or TURNS)
        kinds = [
            *((shape, 1.0, 0.0) for shape in SHAPES),
            *((_SHAPE, times, 0.0) for times in TIMES),
            *((0.0, 1.0, patience) for patience in PATIENCE),
        ]
        trials = [
            Trial(*each, pages, seed, budget, cycles)
            for seed in seeds(options, pages) for budget in BUDGETS for each in kinds
        ]  # fmt: skip
        found = tried("Priors and patience, as a part of the optimum", trials, options, say)
        found.claims = _claims(found.rows)
        return found


def _claims(rows: list[Row]) -> list[Claim]:
    some = [max(each) for each in zip(*(_lost(rows, f"prior shape {shape:g}") for shape in SHAPES[:4]), strict=True)]
    wrong = [max(each) for each in zip(*(_lost(rows, f"prior mean x {times:g}") for times in TIMES), strict=True)]
    second = {name: _reached(rows, f"patience {name}", "second") for name in _PRINTED_SECOND}
    enough, little = (_reached(rows, f"patience {name}") for name in ("20 cycles", "2 cycles"))
    late = [one - other for one, other in zip(enough, little, strict=True)]
    more = [one - other for one, other in zip(enough, _reached(rows, "patience no end"), strict=True)]
    ahead = all(a < b for a, b in zip(second["no end"], second["20 cycles"], strict=True))
    return [
        Claim("shapes from 0.2 to 0.5 lose, of the best, at 1, 10, 100 %", f"at most {_ALIKE}", listed(some),
              max(some) <= _ALIKE),
        *(_as_printed(f"shape {shape:g} loses", printed, _lost(rows, f"prior shape {shape:g}"))
          for shape, printed in _PRINTED.items()),
        _as_printed("a prior mean wrong by 10 either way loses at most", _PRINTED_TIMES, wrong),
        Claim("in the second cycle patience of 20 cycles is ahead of no end", _beside(_PRINTED_SECOND), _beside(second),
              ahead),
        Claim("patience of 2 cycles loses later, beside 20, at 1, 10, 100 %", "0.02 to 0.03", listed(late),
              min(late) > 0),
        Claim("patience without end loses nothing later, beside 20 cycles, at 1, 10, 100 %", "0, within 0.01",
              listed(more), max(more) <= _WITHIN),
    ]  # fmt: skip


def _as_printed(said: str, printed: tuple[float, ...], lost: list[float]) -> Claim:
    holds = all(abs(one - other) <= max(_WITHIN, other / 2) for one, other in zip(lost, printed, strict=True))
    return Claim(f"{said}, at 1, 10, 100 %", listed(printed), listed(lost), holds)


def _lost(rows: list[Row], label: str) -> list[float]:
    """Return how much less than the best shape a row reaches, at each budget."""
    best = [max(each) for each in zip(*(_reached(rows, f"prior shape {shape:g}") for shape in SHAPES), strict=True)]
    return [most - one for most, one in zip(best, _reached(rows, label), strict=True)]


def _reached(rows: list[Row], label: str, column: str = "ratio") -> list[float]:
    return [mean(rows, column, policy=label, budget=budget) for budget in BUDGETS]


def _beside(second: Mapping[str, Sequence[float]]) -> str:
    return "; ".join(f"{name} {listed(figures)}" for name, figures in second.items())
