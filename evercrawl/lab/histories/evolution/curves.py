"""Points of the curves in the figures of a group of pages, in percent."""

from typing import Final, NamedTuple

import numpy as np

from evercrawl.lab.histories.evolution.lasting import lifetimes
from evercrawl.lab.histories.evolution.lives import YEAR_S
from evercrawl.lab.histories.evolution.magnitude import spread
from evercrawl.lab.histories.evolution.record import EvolutionRecord
from evercrawl.lab.histories.evolution.regular import normalised
from evercrawl.types import Floats

_LONGEST: Final = 8.0  # longest gap drawn, in multiples of the mean
_POINTS: Final = 400


class CurvePoints(NamedTuple):
    """Points of a curve, shape (n,) each; empty if there is nothing to show."""

    x: Floats
    y: Floats


_NOTHING: Final = CurvePoints(np.zeros(0), np.zeros(0))


def random_gaps() -> CurvePoints:
    """Return the share of gaps longer than x times their mean, if pages change at random moments."""
    x = np.linspace(0.0, _LONGEST, _POINTS)
    return CurvePoints(x, 100.0 * np.exp(-x))


def longer_gaps(record: EvolutionRecord) -> CurvePoints:
    """Return the share of gaps longer than x times the mean gap of their page."""
    gaps, x = normalised(record.changes), random_gaps().x
    if not len(gaps):
        return _NOTHING
    return CurvePoints(x, 100.0 * (1.0 - np.searchsorted(gaps, x, "right") / len(gaps)))


def smaller_changes(record: EvolutionRecord) -> CurvePoints:
    """Return the share of changes that move x bits or fewer, as a step function."""
    counts = spread(record.changes)
    if not counts.any():
        return _NOTHING
    return CurvePoints(np.arange(len(counts), dtype=np.float64), 100.0 * np.cumsum(counts) / counts.sum())


def still_there(record: EvolutionRecord) -> CurvePoints:
    """Return the share of pages that exist x years after their creation, as a step function."""
    curve = lifetimes(record.lives)
    if not curve.longest_s > 0:
        return _NOTHING
    shares = np.append(1.0, curve.shares)
    ages_s: Floats = np.concatenate([np.zeros(1), curve.ages_s, np.full(1, curve.longest_s)])
    return CurvePoints(ages_s / YEAR_S, 100.0 * np.append(shares, shares[-1]))
