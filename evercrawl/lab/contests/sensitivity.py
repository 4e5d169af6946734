"""The cost of a wrong prior, and of too much or too little patience."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from evercrawl.lab.base import Claim, LabOptions, Row
from evercrawl.lab.contests.comparison import Case, Comparison
from evercrawl.lab.contests.wrong import FixedPrior, Patient, prior_of
from evercrawl.lab.polling.polling import Conditions, PollingRun
from evercrawl.lab.polling.population import DAY_S, Population
from evercrawl.lab.tables import along, listed
from evercrawl.schedule.policies.price_gamma import PriceGamma

BUDGETS: Final = (0.01, 0.1, 1.0)
SHAPES: Final = (0.2, 0.3, 0.4, 0.5, 1.0, 2.0)
TIMES: Final = (10.0, 0.1)
PATIENCE: Final = (0.0, 2.0, 20.0, 1e6)
_SHAPE: Final = 0.4
_NAMES: Final = {0.0: "as shipped", 2.0: "2 cycles", 20.0: "20 cycles", 1e6: "no end"}
_CONDITIONS: Final = Conditions(steps=25)
_WITHIN: Final = 0.01  # tolerance, or half of the published figure if that is more
_ALIKE: Final = 0.015
_PRINTED: Final = {1.0: (0.057, 0.014, 0.002), 2.0: (0.087, 0.02, 0.004)}
_PRINTED_TIMES: Final = (0.035, 0.015, 0.001)
_PRINTED_SECOND: Final[dict[str, Sequence[float]]] = {"no end": (0.83, 0.76, 0.75), "20 cycles": (0.91, 0.88, 0.84)}


class PriorSetting(NamedTuple):
    """The parameters of the plain Gamma index.

    Attributes
    ----------
    shape, times
        Of a constant prior for all pages: its shape, and the factor by which its mean is wrong; shape 0 for priors that
        are learned host by host.
    patience
        Patience with new pages, in cycles of all pages; 0 for the default, which depends on the number of read pages.
    """

    shape: float
    times: float
    patience: float

    @property
    def label(self) -> str:
        """The name of the row.

        >>> PriorSetting(0.5, 1.0, 0.0).label, PriorSetting(0.4, 0.1, 0.0).label, PriorSetting(0.0, 1.0, 1e6).label
        ('prior shape 0.5', 'prior mean x 0.1', 'patience no end')
        """
        if not self.shape:
            return f"patience {_NAMES[self.patience]}"
        return f"prior shape {self.shape:g}" if self.times == 1 else f"prior mean x {self.times:g}"


class Sensitivity(Comparison[PriorSetting]):
    """What the plain Gamma index loses by another shape or mean of the prior, and by more or less patience.

    The prior is the same for all pages. Its mean logarithm is that of all rates, unless deliberately wrong. Patience is
    varied with priors that are learned host by host: some cycles of all pages, unlimited, and the default, some cycles
    of the read pages.
    """

    title = "Priors and patience, as a share of the optimum"
    budgets = BUDGETS

    def settings(self, options: LabOptions) -> list[PriorSetting]:
        """Return every shape, every wrong mean and every patience."""
        return [
            *(PriorSetting(shape, 1.0, 0.0) for shape in SHAPES),
            *(PriorSetting(_SHAPE, times, 0.0) for times in TIMES),
            *(PriorSetting(0.0, 1.0, patience) for patience in PATIENCE),
        ]

    @staticmethod
    def measured(case: Case[PriorSetting], pages: Population) -> Row:
        """Run it; `second` is the share of the optimum reached in the second cycle."""
        shape, times, patience = case.setting
        policy = Patient(patience * DAY_S / case.budget) if patience else PriceGamma()
        polling = PollingRun(policy, pages, case.budget, case.seed, _CONDITIONS)
        if shape:
            prior = prior_of(pages.lam_per_s, shape, times)
            polling.held.beliefs = FixedPrior(pages.host, prior, forget=_CONDITIONS.forget, cycle_s=polling.cycle_s)
        found = polling.run(case.cycles, case.cycles / 2)
        second = found.by_cycle[min(1, len(found.by_cycle) - 1)] / found.optimum
        return {"ratio": found.ratio, "value": found.value, "optimum": found.optimum, "second": second}

    def claims(self, rows: list[Row], options: LabOptions) -> list[Claim]:
        """Return claims about the losses by wrong priors and by patience, with the published figures."""
        shapes, means = [f"prior shape {each:g}" for each in SHAPES[:4]], [f"prior mean x {each:g}" for each in TIMES]
        some, wrong = (_most([_lost(rows, label) for label in labels]) for labels in (shapes, means))
        second = {name: along(rows, f"patience {name}", BUDGETS, "second") for name in _PRINTED_SECOND}
        names = ("20 cycles", "2 cycles", "no end")
        enough, little, most = (along(rows, f"patience {name}", BUDGETS) for name in names)
        late, more = _minus(enough, little), _minus(enough, most)
        ahead = all(a < b for a, b in zip(second["no end"], second["20 cycles"], strict=True))
        return [
            Claim("loss of shapes 0.2 to 0.5 vs. the best shape, at 1, 10, 100 %", f"at most {_ALIKE}", listed(some),
                  max(some) <= _ALIKE),
            *(_as_printed(f"loss of shape {shape:g}", printed, _lost(rows, f"prior shape {shape:g}"))
              for shape, printed in _PRINTED.items()),
            _as_printed("largest loss of a prior mean 10 times too high or too low", _PRINTED_TIMES, wrong),
            Claim("in the second cycle, patience of 20 cycles is better than unlimited patience",
                  _beside(_PRINTED_SECOND), _beside(second), ahead),
            Claim("patience of 2 cycles later loses vs. 20 cycles, at 1, 10, 100 %", "0.02 to 0.03", listed(late),
                  min(late) > 0),
            Claim("unlimited patience later loses nothing vs. 20 cycles, at 1, 10, 100 %", "0, within 0.01",
                  listed(more), max(more) <= _WITHIN),
        ]  # fmt: skip


def _as_printed(said: str, printed: tuple[float, ...], lost: list[float]) -> Claim:
    holds = all(abs(one - other) <= max(_WITHIN, other / 2) for one, other in zip(lost, printed, strict=True))
    return Claim(f"{said}, at 1, 10, 100 %", listed(printed), listed(lost), holds)


def _lost(rows: list[Row], label: str) -> list[float]:
    """Return the difference between the best shape and a row, at each budget."""
    best = _most([along(rows, f"prior shape {shape:g}", BUDGETS) for shape in SHAPES])
    return _minus(best, along(rows, label, BUDGETS))


def _most(each: Sequence[Sequence[float]]) -> list[float]:
    return [max(at) for at in zip(*each, strict=True)]


def _minus(ones: Sequence[float], others: Sequence[float]) -> list[float]:
    return [one - other for one, other in zip(ones, others, strict=True)]


def _beside(second: Mapping[str, Sequence[float]]) -> str:
    return "; ".join(f"{name} {listed(figures)}" for name, figures in second.items())
