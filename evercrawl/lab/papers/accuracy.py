"""Accuracy of importance estimates, by several measures of error."""

from typing import Final, NamedTuple

import numpy as np

from evercrawl.importance.offline import Graph, solve
from evercrawl.simulate.graphs.base import Web
from evercrawl.types import Floats, Ints

_TOP: Final = 10  # the important pages are the most important tenth, as in the paper
_PAIRS: Final = 1000  # number of most important pages whose pairwise order is compared
_FAR: Final = 2.0  # multiple of the mean error that hardly any page should exceed
RANKED: Final = 2_000_000
"""Maximum number of pages for which all ranks are compared; beyond it, sorting takes longer than the visits."""

_TRUE: Final = 1e-12  # tolerance of the true importance: sum of the errors


class Accuracy(NamedTuple):
    """The accuracy of an estimate. All values are shares of 1; errors are relative to the page's true importance.

    Attributes
    ----------
    mean, top
        Mean error over all pages, and over the most important tenth.
    variance, top_variance
        Variance of the error over the same pages.
    weighted
        Mean error weighted by importance: sum |estimate - truth|, the L1 distance.
    rank
        1 - Spearman's rank correlation, over all pages.
    top_rank
        Share of the pairs of the 1,000 most important pages that are in the wrong order: (1 - Kendall's tau) / 2.
    beyond
        Share of all pages whose error is more than twice the mean.
    """

    mean: float
    top: float
    variance: float
    top_variance: float
    weighted: float
    rank: float
    top_rank: float
    beyond: float


NOT_KNOWN: Final = Accuracy(*[float("nan")] * len(Accuracy._fields))
"""The accuracy if there is nothing to compare: all nan."""


class ErrorMeasure(NamedTuple):
    """An error measure: its name, its unit, and the number of units in 1."""

    what: str
    unit: str = ""
    scale: float = 1.0


MEASURES: Final = {
    "mean": ErrorMeasure("mean error, all pages", "%", 100.0),
    "top": ErrorMeasure("mean error, the most important tenth", "%", 100.0),
    "variance": ErrorMeasure("variance of the error, all pages"),
    "top_variance": ErrorMeasure("variance of the error, the most important tenth"),
    "weighted": ErrorMeasure("error weighted by importance", "%", 100.0),
    "rank": ErrorMeasure("rank error, 1 - Spearman"),
    "top_rank": ErrorMeasure("pairs of the top 1,000 in wrong order", "%", 100.0),
}


def told_of(measure: str, whom: str = "") -> str:
    """Return the axis label of a measure of error over the named pages (default: those of the measure).

    >>> told_of("weighted"), told_of("mean", "newcomers")
    ('error weighted by importance, %', 'mean error, newcomers, %')
    """
    what, unit, _ = MEASURES[measure]
    return ", ".join(each for each in (f"{what.partition(',')[0]}, {whom}" if whom else what, unit) if each)


class TrueImportance:
    """The true importance of a graph's pages, with precomputed data for comparisons.

    Parameters
    ----------
    importance
        Shape (n,), positive, summing to 1.
    ranks
        Whether to compare ranks too, which takes longest.

    Examples
    --------
    >>> truth = TrueImportance(np.array([0.5, 0.3, 0.2]))
    >>> found = truth.accuracy(np.array([4.0, 4.0, 2.0]))
    >>> round(found.mean, 4), round(found.top, 4), round(found.weighted, 4)
    (0.1778, 0.2, 0.2)
    """

    def __init__(self, importance: Floats, *, ranks: bool = True) -> None:
        self.importance = importance
        self.order: Ints = np.argsort(-importance, kind="stable")
        self.top = self.order[: max(len(importance) // _TOP, 1)]
        self._ranks = ranks_of(np.round(importance, 15)) if ranks else None

    def accuracy(self, estimate: Floats, *, level: bool = False) -> Accuracy:
        """Compare an estimate, shape (n,), with the truth; it is scaled to sum to 1 unless `level` is set."""
        found = estimate if level else estimate / estimate.sum()
        error = np.abs(found - self.importance) / self.importance
        best = error[self.top]
        return Accuracy(
            float(error.mean()), float(best.mean()), float(error.var()), float(best.var()),
            float(np.abs(found - self.importance).sum()), self._rank_error(found), self._swapped(found),
            float((error > _FAR * error.mean()).mean()),
        )  # fmt: skip

    def _rank_error(self, found: Floats) -> float:
        """Return 1 - Spearman's correlation; nan if a column is constant or ranks are not compared."""
        ranks = ranks_of(np.round(found, 15)) if self._ranks is not None else np.zeros(1)
        if self._ranks is None or np.ptp(ranks) == 0 or np.ptp(self._ranks) == 0:
            return float("nan")
        return float(1 - np.corrcoef(self._ranks, ranks)[0, 1])

    def _swapped(self, found: Floats) -> float:
        """Return the share of pairs among the most important pages in the wrong order; a tie counts as half a pair."""
        best = self.order[:_PAIRS]
        true, other = self.importance[best], found[best]
        tied = (true[:, None] == true) | (other[:, None] == other)
        wrong = np.triu(~tied & (other[:, None] < other))  # a row's page is at least as important as a column's
        return float(
            (np.count_nonzero(wrong) + np.count_nonzero(np.triu(tied, 1)) / 2) / max(tied.size - len(best), 1) * 2
        )


def among(importance: Floats, estimate: Floats, *, level: bool = False) -> Accuracy:
    """Compare the estimates of some pages with the truth, ignoring all other pages; shape (n,) each.

    Parameters
    ----------
    importance, estimate
        Of these pages; the importance is positive.
    level
        Whether the two have the same unit, so that a wrong level of the estimate counts as an error.

    Examples
    --------
    >>> truth, estimate = np.array([0.1, 0.1]), np.array([0.2, 0.2])
    >>> among(truth, estimate).mean, among(truth, estimate, level=True).mean
    (0.0, 1.0)
    """
    whole = importance.sum()
    return TrueImportance(importance / whole, ranks=len(importance) <= RANKED).accuracy(estimate / whole, level=level)


def importance(web: Web, tax: float = 0.15) -> Floats:
    """Return the true importance of the pages of a web, summing to 1; shape (n,). Pages without links pay all in tax.

    >>> from evercrawl.simulate.graphs import Web
    >>> importance(Web.of(2, np.array([0]), np.array([1])), tax=0.5)
    array([0.4, 0.6])
    """
    found = solve(graph_of(web), tax, tolerance=_TRUE)
    found /= found.sum()
    return found


def graph_of(web: Web) -> Graph:
    """Return the web as a graph for off-line algorithms; it shares the web's arrays."""
    return Graph(web.start, web.target.view(np.uint32), web.start[:-1])


def ranks_of(values: Floats) -> Floats:
    """Return the rank of each value, from 0; equal values have the mean of their ranks.

    >>> ranks_of(np.array([1.0, 2.0, 2.0, 5.0]))
    array([0. , 1.5, 1.5, 3. ])
    """
    _, which, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(count) - (count + 1) / 2)[which]
    return ranks
