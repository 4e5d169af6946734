"""The beliefs that a crawl of a living web learned, compared with the truth."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from evercrawl.simulate.living import truth
from evercrawl.simulate.living.beliefs import Beliefs, rank_correlation
from evercrawl.simulate.living.web import LivingWeb
from evercrawl.types import Floats

TOP: Final = 10
CLASSES: Final = 6
_LEAST_VISITS: Final = 3  # minimum visits for a page's rate to be listed


@dataclass(frozen=True, slots=True)
class Learned:
    """Learned and true values of a living web, ready to be printed.

    Attributes
    ----------
    top
        The most important pages: URL, learned and true importance (shares of one).
    error
        Mean relative error of importance over all pages read.
    rates
        Pages in classes by true rate: their number, and median time between changes, learned and true (s).
    correlation
        Rank correlation of learned and true rates; nan if too few pages have one.
    """

    top: list[tuple[str, float, float]]
    error: float
    rates: list[tuple[int, float, float]]
    correlation: float


def learned(web: LivingWeb, believed: Beliefs, error: float) -> Learned:
    """Return the comparison of beliefs about all URLs of the plan with the truth."""
    true = truth.weights(web)
    pages = slice(web.plan.count)
    importance = np.where(true > 0, np.nan_to_num(believed.importance[pages]), 0.0)
    importance /= importance.sum() or 1.0
    best: list[int] = np.argsort(-true, kind="stable")[:TOP].tolist()
    top = [(web.urls[number], float(importance[number]), float(true[number])) for number in best]
    rates = truth.rates_per_s(web)
    rated = (believed.visits[pages] >= _LEAST_VISITS) & (rates > 0)
    return Learned(top, error, *_classes(believed.rate_per_s[pages][rated], rates[rated]))


def _classes(believed: Floats, true: Floats) -> tuple[list[tuple[int, float, float]], float]:
    """Return pages in classes of equal size by their true rate, the fastest first, and the rank correlation."""
    if len(true) < CLASSES:
        return [], float("nan")
    parts = np.array_split(np.argsort(-true, kind="stable"), CLASSES)
    rows = [(len(part), 1 / float(np.median(believed[part])), 1 / float(np.median(true[part]))) for part in parts]
    return rows, rank_correlation(believed, true)
