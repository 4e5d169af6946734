"""What a crawl of a living web learned, beside the truth."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from evercrawl.simulate.living import truth
from evercrawl.simulate.living.beliefs import Beliefs, rank_correlation
from evercrawl.simulate.living.web import LivingWeb
from evercrawl.types import Floats

TOP: Final = 10
CLASSES: Final = 6
_LEAST_VISITS: Final = 3  # a rate is listed of pages that were visited so often


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned of a living web beside the truth, ready to be printed.

    Attributes
    ----------
    top
        The pages that matter most: URL, importance learned and true (parts of one).
    error
        Mean relative error of the importance of all pages read.
    rates
        Pages in classes by their true rate: how many, and median time between changes as learned and true (s).
    correlation
        Rank correlation of learned and true rates; nan where too few pages have one.
    """

    top: list[tuple[str, float, float]]
    error: float
    rates: list[tuple[int, float, float]]
    correlation: float


def learned(web: LivingWeb, believed: Beliefs, error: float) -> Learned:
    """Return what the beliefs about all of the plan's URLs come to beside the truth."""
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
