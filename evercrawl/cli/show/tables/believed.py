"""What `evercrawl backtest --calibration` prints: whether copies were as often fresh as policies believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evercrawl.cli.show.calibration import bounds, cells, summary
from evercrawl.cli.show.plain import many
from evercrawl.cli.show.words import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.lab.backtest.rows import Mean, Row

_HEAD: Final = ("said to be fresh", "polls", "mean", "were", "95 % between")


def believed(rows: Sequence[Row] | Sequence[Mean]) -> list[str]:
    """Return a table for each policy and budget, of the bins in which anything was said."""
    silent = dict.fromkeys(row.policy for row in rows if not row.calibration.count)
    lines = [line for row in rows if row.calibration.count for line in ["", *_of_one(row)]]
    return [*lines, *(["", f"nothing is said of how fresh copies are by {', '.join(silent)}"] if silent else [])]


def _of_one(row: Row | Mean) -> list[str]:
    of, bins = row.calibration, row.calibration.table()
    lines = [(bounds(bins, i), *cells(bins, i)) for i in range(len(bins.count)) if bins.count[i]]
    return [summary(f"{row.policy} at {row.budget:g}, {many(of.count, 'polls')}", of), *table(_HEAD, lines)]
