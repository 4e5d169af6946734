"""The calibration of P(fresh): as a table, as JSON, and for the figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from evercrawl.cli.show.early import too_early
from evercrawl.cli.show.plain import many
from evercrawl.cli.show.words import percent, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.ask.measured import MeasuredCopies
    from evercrawl.change.calibration import Bins, Calibration
    from evercrawl.lab.backtest.rows import Mean, ReplayRow

_HEAD: Final = (
    "predicted fresh", "visits", "mean", "observed", "95 % interval", "probes", "mean", "observed", "95 % interval",
)  # fmt: skip
_BELIEVED: Final = (_HEAD[0], "polls", *_HEAD[2:5])
_NONE: Final = "nothing is known yet: no page with a stored copy has been visited again"


def groups(found: MeasuredCopies) -> dict[str, Calibration]:
    """Return the available calibrations: of all visits, which are not a random sample, and of probes by kind."""
    return {"visits": found.visits, "probes": found.probes[False], "probes_by_importance": found.probes[True]}


def rounded(found: MeasuredCopies) -> dict[str, Any]:
    """Return the calibrations as an object for JSON."""
    return {name: _object(of) for name, of in groups(found).items()} | {
        "probes_waiting": found.waiting,
        "probes_unanswered": found.unanswered.total(),
    }


def _object(of: Calibration) -> dict[str, Any]:
    low, high = of.interval()
    return {
        "count": of.count, "predicted": _number(of.predicted), "observed": _number(of.observed),
        "at_least": low, "at_most": high, "expected_error": _number(of.expected_error), "brier": _number(of.brier),
        "bins": of.table().objects(),
    }  # fmt: skip


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def lines(found: MeasuredCopies) -> list[str]:
    """Return the table, and a line for each kind of visit."""
    visits, probes = found.visits.table(), found.probes[False].table()
    if not found.visits.count:
        return [_NONE]
    rows = [
        (bounds(visits, i), *cells(visits, i), *cells(probes, i))
        for i in range(len(visits.count))
        if visits.count[i] or probes.count[i]
    ]
    return [*table(_HEAD, rows), "", *(_sum(name, of) for name, of in groups(found).items() if of.count), *_left(found)]


def believed(rows: Sequence[ReplayRow] | Sequence[Mean]) -> list[str]:
    """Return a table for each policy and budget of a backtest, with the bins that have predictions."""
    silent, told = dict.fromkeys(row.policy for row in rows if not row.calibration.count), list[str]()
    for row in rows:
        of, bins = row.calibration, row.calibration.table()
        if of.count:
            cases = [(bounds(bins, i), *cells(bins, i)) for i in range(len(bins.count)) if bins.count[i]]
            head = summary(f"{row.policy} at {row.budget:g}, {many(of.count, 'polls')}", of)
            told += ["", head, *table(_BELIEVED, cases)]
    return [*told, *(["", f"no predictions of freshness by {', '.join(silent)}"] if silent else [])]


def bounds(bins: Bins, i: int) -> str:
    """Return the range of probabilities of a bin."""
    return f"{100 * bins.low[i]:.0f} to {100 * bins.high[i]:.0f} %"


def cells(bins: Bins, i: int) -> tuple[str, ...]:
    """Return the cells of a bin for the columns "visits", "mean", "observed" and "95 % interval"."""
    if not bins.count[i]:
        return "", "", "", ""
    interval = f"{100 * bins.at_least[i]:.1f} to {100 * bins.at_most[i]:.1f} %"
    return f"{bins.count[i]:,}", f"{100 * bins.predicted[i]:.1f} %", f"{100 * bins.observed[i]:.1f} %", interval


def _sum(name: str, of: Calibration) -> str:
    what = {"visits": "visits", "probes": "random probes", "probes_by_importance": "probes by importance"}[name]
    early = too_early(of.count, what if what.endswith("s") else "probes")
    counted = many(of.count, what) if what.endswith("s") else f"{of.count:,} {what}"
    return f"{counted}: {early}" if early else summary(counted, of)


def summary(what: str, of: Calibration) -> str:
    """Return a line with the observed and the expected number of fresh copies, and the calibration error."""
    low, high = of.interval()
    return (
        f"{what}: {percent(of.observed)} fresh (95 % interval {percent(low)} to {percent(high)}), "
        f"{percent(of.predicted)} predicted; "
        f"expected calibration error {100 * of.expected_error:.1f} points, Brier score {of.brier:.3f}"
    )


def _left(found: MeasuredCopies) -> list[str]:
    """Return a line about probes without a result."""
    waiting, silent = found.waiting, found.unanswered.total()
    lines = [f"{many(waiting, 'probes')} are waiting for their hosts, or until their pages may be visited again"]
    return lines * (waiting > 0) + [f"{many(silent, 'probes')} got no usable answer"] * (silent > 0)
