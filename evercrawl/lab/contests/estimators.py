"""Estimators of change rates: their errors by number of visits, rate, and spacing of visits."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from evercrawl import catalog, change
from evercrawl.change.estimators.base import Estimator
from evercrawl.change.estimators.log_corrected import moments
from evercrawl.lab.base import Claim, Experiment, LabOptions, Panel, PanelCurve, Results, Row, Say
from evercrawl.lab.contests.comparison import plain
from evercrawl.lab.polling.population import DAY_S, Population, population
from evercrawl.lab.tables import column, listed
from evercrawl.schedule.formulas import allocation
from evercrawl.types import Floats

_VISITS: Final = (5, 10, 30)
_RATIOS: Final = (0.1, 0.5, 1.0, 3.0)
"""Changes per visit: r = lam / f."""
_SPACED: Final = ("even", "random")
_BUDGET: Final = 0.1
_ERRORS: Final = 4.5  # maximum difference of a measured bias from the exact one, in standard errors
_WORTH: Final = 0.99
_WELL: Final = ("classes", "posterior")
"""Estimators for which we promise at least `_WORTH` of the optimum: they account for their uncertainty."""
_PLUGGED: Final = 20  # visits to each page of the population before a schedule is made from the estimates


class Estimators(Experiment):
    """Bias and spread of estimates of a page's rate of change, and the value of a schedule made from them.

    A page is visited 5, 10 or 30 times, evenly or at random moments, and changes 0.1 to 3 times per visit on average.
    Missing and infinite estimates are counted (`unsaid`) and left out of bias and spread. Each estimator is then used
    on one population, visited evenly; the schedule that is optimal for its estimates is judged by the true rates.

    References
    ----------
    Cho, Garcia-Molina (2003). Estimating frequency of change. Avrachenkov et al. (2020, 2022), on-line estimators.
    """

    pages = 2_000
    turns = 1

    def run(self, options: LabOptions, say: Say) -> Results:
        """Draw pages, and apply each estimator to them."""
        plain(options, "estimators")
        draw, pages = np.random.default_rng(options.seed), options.pages or self.pages
        rows, people = list["Row"](), population(pages, options.seed)
        for name, make in estimators().items():
            say(name)
            for spaced in _SPACED:
                for r in _RATIOS:
                    rows += _runs(draw, name, make, spaced, r, pages)
        plugged = {name: _plugged(draw, make, people) for name, make in estimators().items()}
        rows += [_plugged_row(name, ratio) for name, ratio in plugged.items()]
        found = Results(f"Estimators of rates of change, {pages:,} pages", rows, panels=_panels(rows))
        told = ", ".join(f"{name} {ratio:.3f}" for name, ratio in plugged.items())
        promised = pages >= self.pages
        found.claims = [*_claims(rows, promised=promised), _as_exact(rows, pages, promised=promised)]
        found.claims.append(_well(plugged, promised=promised))
        found.claims.append(Claim("schedules made from estimates: share of the optimum, 10 % a day", "", told, None))
        return found


def estimators() -> dict[str, Callable[[int], Estimator]]:
    """Return a constructor of each estimator, by name; its argument is the number of pages.

    >>> sorted(estimators())[:3]
    ['classes', 'irregular', 'last_modified']
    """
    kinds: dict[str, Any] = catalog.find(change.estimators, Estimator)
    return kinds


def seen(draw: np.random.Generator, lam: Floats, interval_s: Floats) -> tuple[Any, Floats]:
    """Return whether visits after those intervals find a change, and the time since the last change."""
    age_s = draw.exponential(1.0 / lam)
    return age_s < interval_s, age_s


def estimated(
    draw: np.random.Generator, make: Callable[[int], Estimator], lam: Floats, visits: int, mean_s: float, spaced: str
) -> Floats:
    """Return an estimator's rates of pages after that many visits, each of which shows the date of the last change."""
    estimator, rows = make(len(lam)), np.arange(len(lam))
    for _ in range(visits):
        interval_s = np.full(len(lam), mean_s) if spaced == "even" else draw.exponential(mean_s, len(lam))
        changed, age_s = seen(draw, lam, interval_s)
        estimator.learn(rows, interval_s, changed, np.where(changed, age_s, np.nan))
    return estimator.rates()


def _runs(
    draw: np.random.Generator, name: str, make: Callable[[int], Estimator], spaced: str, r: float, pages: int
) -> list[Row]:
    rows = list["Row"]()
    for visits in _VISITS:
        found = estimated(draw, make, np.full(pages, r / DAY_S), visits, DAY_S, spaced) * DAY_S
        said = found[np.isfinite(found)]
        bias, spread = (float(said.mean()) - r, float(said.std())) if len(said) else (np.nan, np.nan)
        rows.append(
            {"estimator": name, "spaced": spaced, "r": r, "visits": visits, "bias": bias / r, "spread": spread / r,
             "unsaid": 1.0 - len(said) / pages, "ratio": np.nan}
        )  # fmt: skip
    return rows


def _plugged(draw: np.random.Generator, make: Callable[[int], Estimator], pages: Population) -> float:
    """Return the share of the optimum that the schedule optimal for the estimates reaches."""
    found = estimated(draw, make, pages.lam_per_s, _PLUGGED, DAY_S / _BUDGET, "even") * DAY_S
    most = np.max(found[np.isfinite(found)], initial=_BUDGET)
    found = np.clip(np.nan_to_num(found, nan=_BUDGET, posinf=most), 1e-6, None)
    rate = allocation.optimum(pages.weight, found, _BUDGET * len(pages)).rate
    fresh = allocation.freshness(rate, pages.lam_per_day)
    return float(np.average(fresh, weights=pages.weight)) / pages.optimum(_BUDGET).value


def _plugged_row(name: str, ratio: float) -> Row:
    blank = float("nan")
    return {"estimator": name, "spaced": "even", "r": blank, "visits": _PLUGGED, "bias": blank, "spread": blank,
            "unsaid": blank, "ratio": ratio}  # fmt: skip


def _of(rows: list[Row], estimator: str, name: str, r: float, spaced: str = "even") -> list[float]:
    return column(rows, name, estimator=estimator, r=r, spaced=spaced)


def _as_exact(rows: list[Row], pages: int, *, promised: bool) -> Claim:
    """Return the claim that the bias of the corrected logarithm agrees with its closed form within chance."""
    worst = 0.0
    for r in _RATIOS:
        for visits, bias in zip(_VISITS, _of(rows, "log_corrected", "bias", r), strict=True):
            exact = moments(r, visits)
            worst = max(worst, abs(bias * r - exact.bias) / (exact.variance / pages) ** 0.5)
    name = "the bias of the corrected logarithm agrees with its closed form, at every rate and number of visits"
    return Claim(
        name, f"(ours) at most {_ERRORS:g} s.e. off", f"at most {worst:.1f} s.e. off", worst <= _ERRORS, promised
    )


def _well(plugged: Mapping[str, float], *, promised: bool) -> Claim:
    """Return the claim that schedules from Bayesian estimates almost reach the optimum."""
    said = {name: plugged[name] for name in _WELL}
    name = f"a schedule made from {' or '.join(_WELL)} estimates almost reaches the optimum"
    told = ", ".join(f"{each:.3f}" for each in said.values())
    return Claim(name, f"(ours) at least {_WORTH:g}", told, all(each >= _WORTH for each in said.values()), promised)


def _claims(rows: list[Row], *, promised: bool) -> list[Claim]:
    naive, corrected = _of(rows, "naive", "bias", 3.0), _of(rows, "log_corrected", "bias", 3.0)
    slow = _of(rows, "log_corrected", "bias", 0.5)
    dated = _of(rows, "last_modified", "spread", 1.0)
    told = f"after {', '.join(str(visits) for visits in _VISITS)} visits"
    return [
        Claim(f"X/n stays biased: bias / rate at three changes a visit, {told}", "-2.05 of 3, or -0.683", listed(naive),
              all(abs(each + 0.683) < 0.02 for each in naive), promised),
        Claim(f"the corrected logarithm is nearly unbiased: bias / rate at one change in two visits, {told}", "",
              listed(slow), all(abs(each) < 0.05 for each in slow), promised),
        Claim(f"the corrected logarithm is badly biased: bias / rate at three changes per visit, {told}",
              "-0.287, -0.147 (5 and 10 visits)",
              listed(corrected), all(abs(a - b) < 0.03 for a, b in zip(corrected, (-0.287, -0.147), strict=False))),
        Claim(f"spread / rate with dates of changes vs. corrected logarithm, one change per visit, {told}", "",
              f"{listed(dated)} vs. {listed(_of(rows, 'log_corrected', 'spread', 1.0))}", None),
    ]  # fmt: skip


def _panels(rows: list[Row]) -> list[Panel]:
    names = list(dict.fromkeys(str(row["estimator"]) for row in rows))
    visits = [float(each) for each in _VISITS]
    return [
        Panel(f"{what}, {r:g} changes per visit", "visits", f"{what} / rate",
              [PanelCurve(name, visits, _of(rows, name, what, r), ours=name == "posterior") for name in names])
        for r in (0.5, 3.0) for what in ("bias", "spread")
    ]  # fmt: skip
