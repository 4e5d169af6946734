"""Selection and averaging of result rows, and formatting of figures for claims."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from evercrawl.lab.base import Claim, Panel, PanelCurve, Row

_DECIMALS: Final = 3
_SMALL: Final = 0.1


def column(rows: Iterable[Row], name: str, **named: str | float) -> list[float]:
    """Return a column of the rows that match the given values.

    >>> column([{"policy": "a", "ratio": 0.5}, {"policy": "b", "ratio": 0.1}], "ratio", policy="b")
    [0.1]
    """
    return [float(row[name]) for row in rows if all(row[key] == value for key, value in named.items())]


def mean(rows: Iterable[Row], name: str = "ratio", **named: str | float) -> float:
    """Return the mean over seeds of a column, in the rows that match the given values; nan if there are none.

    >>> mean([{"policy": "a", "ratio": 0.5}, {"policy": "a", "ratio": 0.7}, {"policy": "b", "ratio": 0.1}], policy="a")
    0.6
    """
    found = column(rows, name, **named)
    return round(float(np.mean(found)), 12) if found else math.nan


def along(
    rows: Iterable[Row], label: str, budgets: Sequence[float], name: str = "ratio", **named: str | float
) -> list[float]:
    """Return the mean of a column at each budget, in the rows of that label."""
    return [mean(rows, name, policy=label, budget=budget, **named) for budget in budgets]


def places(rows: Iterable[Row], label: str) -> list[tuple[float, float]]:
    """Return the correlations and budgets at which a row was run."""
    return sorted({(float(row["correlation"]), float(row["budget"])) for row in rows if row["policy"] == label})


def labels(rows: Iterable[Row]) -> list[str]:
    """Return the distinct names of rows, in order.

    >>> labels([{"policy": "a", "seed": 1}, {"policy": "b", "seed": 1}, {"policy": "a", "seed": 2}])
    ['a', 'b']
    """
    return list(dict.fromkeys(str(row["policy"]) for row in rows))


def near(found: Iterable[float], printed: Iterable[float], within: float) -> bool:
    """Return whether all figures are as published, within a tolerance.

    >>> near([0.5, 0.7], [0.51, 0.69], 0.03), near([0.5, 0.7], [0.51, 0.79], 0.03)
    (True, False)
    """
    return all(abs(one - other) <= within for one, other in zip(found, printed, strict=True))


def at_least(found: Iterable[float], least: Iterable[float], within: float = 0.0) -> bool:
    """Return whether no figure is below its bound by more than `within`.

    >>> at_least([0.5, 0.7], [0.5, 0.6]), at_least([0.5, 0.7], [0.51, 0.6]), at_least([0.5], [0.51], 0.03)
    (True, False, True)
    """
    return all(one >= other - within for one, other in zip(found, least, strict=True))


def listed(figures: Iterable[float], decimals: int = _DECIMALS) -> str:
    """Return figures in a line.

    >>> listed([0.5, 0.98765])
    '0.500, 0.988'
    """
    return ", ".join(f"{figure:.{decimals}f}" for figure in figures)


def percent(part: float) -> str:
    """Return a share of 1 as a percentage with a sensible number of digits.

    >>> percent(0.08379), percent(0.0193601), percent(0.00046), percent(0.3604), percent(0.0)
    ('8.4 %', '1.94 %', '0.046 %', '36 %', '0 %')
    """
    value = 100.0 * part
    if abs(value) < _SMALL:
        return f"{value:.2g} %"
    return f"{value:.{0 if abs(value) >= 20 else 1 if abs(value) >= 5 else 2}f} %"


def both(mean: float, top: float) -> str:
    """Return two errors as text: of all pages, and of the most important tenth.

    >>> both(0.0193601, 0.0083)
    '1.94 / 0.83 %'
    """
    return f"{percent(mean)[:-2]} / {percent(top)}"


def plainly(*parts: float) -> str:
    """Return chosen (not measured) shares of 1 as percentages, without rounding.

    >>> plainly(0.1), plainly(0.025, 0.011)
    ('10 %', '2.5 / 1.1 %')
    """
    return " / ".join(f"{100 * part:.6g}" for part in parts) + " %"


def ours(what: str, least: float, reached: Sequence[float], *, promised: bool) -> Claim:
    """Return the claim that every figure reaches the promised minimum."""
    return Claim(what, f"(ours) at least {least:g}", listed(reached), min(reached) >= least, promised)


def panels(rows: list[Row], drawn: Sequence[str]) -> list[Panel]:
    """Return a panel for each correlation: the share of the optimum reached, by budget."""
    found = list[Panel]()
    for correlation in sorted({float(row["correlation"]) for row in rows}):
        curves = list[PanelCurve]()
        for label in drawn:
            budgets = [b for c, b in places(rows, label) if c == correlation]
            if budgets:
                ratios = along(rows, label, budgets, correlation=correlation)
                curves.append(PanelCurve(label, [100 * b for b in budgets], ratios, ours=label == "price"))
        title = f"correlation of importance and rate: {correlation:g}"
        found.append(Panel(title, "budget (% of all pages per day)", "share of the optimum", curves, percent=True))
    return found
