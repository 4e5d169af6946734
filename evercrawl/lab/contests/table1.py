"""Table 1 of the survey: freshness and age by the order of visits, in closed form and simulated."""

from typing import Final

import numpy as np

from evercrawl.change import copies, expectations
from evercrawl.change.expectations import Order
from evercrawl.lab.base import Claim, Experiment, LabOptions, Panel, PanelCurve, Results, Row, Say
from evercrawl.lab.contests.comparison import plain
from evercrawl.lab.tables import column, listed
from evercrawl.types import Floats

_RATES: Final = ((0.1, 1.0), (1.0, 1.0), (3.0, 1.0), (1.0, 4.0))
"""Changes and visits, in the same unit of time."""
_PARTS: Final = 20  # parts of each run; their spread gives the standard error of the mean
_ERRORS: Final = 5.0  # maximum deviation in standard errors; about sixty figures are compared at once


class Table1(Experiment):
    """Whether freshness and age agree with table 1 of the survey, for three orders of visits; 10,000 visits per page.

    References
    ----------
    Meng, Wang, Yan (2006), table 1, after Cho, Garcia-Molina (2003). Effective page refresh policies.
    """

    pages = 20
    turns = 10_000

    def run(self, options: LabOptions, say: Say) -> Results:
        """Draw changes and visits, and compare the results with the formulas."""
        plain(options, "table1")
        draw, parts, visits = np.random.default_rng(options.seed), options.pages or _PARTS, options.turns or self.turns
        rows = list["Row"]()
        for order in expectations.ORDERS:
            say(order.replace("_", " "))
            rows += [_row(order, lam, rate, _drawn(draw, order, lam, rate, parts, visits)) for lam, rate in _RATES]
        found = Results("Freshness and age by the order of visits", rows, panels=_panels(rows))
        found.claims = [_claim(rows, order, measure) for order in expectations.ORDERS for measure in ("F", "A")]
        return found


def visits_at(draw: np.random.Generator, order: Order, rate: float, count: int) -> Floats:
    """Return the instants of visits.

    >>> visits_at(np.random.default_rng(1), "fixed", 2.0, 3)
    array([0. , 0.5, 1. ])
    """
    if order == "purely_random":
        return np.cumsum(draw.exponential(1.0 / rate, count)).astype(np.float64)
    within = draw.random(count) if order == "random_order" else 0.0
    return np.asarray((np.arange(count) + within) / rate, np.float64)


def _drawn(draw: np.random.Generator, order: Order, lam: float, rate: float, parts: int, visits: int) -> Floats:
    """Return freshness and age of several runs, shape (parts, 2)."""
    found = list[tuple[float, float]]()
    for _ in range(parts):
        at = visits_at(draw, order, rate, visits)
        end = float(at[-1])
        changes = np.sort(draw.random(draw.poisson(lam * end))) * end
        found.append(copies.over_time(changes, at[:-1], end))
    return np.array(found)


def _row(order: Order, lam: float, rate: float, drawn: Floats) -> Row:
    error = drawn.std(axis=0, ddof=1) / np.sqrt(len(drawn)) if len(drawn) > 1 else np.full(2, np.inf)
    return {
        "order": order, "lam": lam, "f": rate,
        "F": float(expectations.mean_freshness(lam, rate, order)), "F_drawn": float(drawn[:, 0].mean()),
        "F_error": float(error[0]),
        "A": float(expectations.mean_age(lam, rate, order)), "A_drawn": float(drawn[:, 1].mean()),
        "A_error": float(error[1]),
    }  # fmt: skip


def _claim(rows: list[Row], order: Order, measure: str) -> Claim:
    said, drawn, error = (column(rows, name, order=order) for name in (measure, f"{measure}_drawn", f"{measure}_error"))
    off = max(abs(one - other) / by for one, other, by in zip(drawn, said, error, strict=True))
    what = "freshness" if measure == "F" else "age"
    return Claim(
        f"{what}, {order.replace('_', ' ')}: agrees with the table", listed(said, 4),
        f"{listed(drawn, 4)}; at most {off:.1f} s.e. off", off <= _ERRORS, bool(np.isfinite(error).all()),
    )  # fmt: skip


def _panels(rows: list[Row]) -> list[Panel]:
    found = list[Panel]()
    places = [float(place) for place in range(len(_RATES))]
    for measure, name in (("F", "freshness"), ("A", "age")):
        curves = list[PanelCurve]()
        for order in expectations.ORDERS:
            curves.append(PanelCurve(order.replace("_", " "), places, column(rows, f"{measure}_drawn", order=order)))
        pairs = tuple(f"{lam:g}/{rate:g}" for lam, rate in _RATES)
        found.append(Panel(f"{name}, simulated", "changes/visits", name, curves, bars=True, named=pairs))
    return found
