"""Agreement between measures of importance and expert ratings of sites."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evercrawl.ask.rank.ratings import Ratings
from evercrawl.importance.sites.agreement import by_chance, cut, identical, mean_rating
from evercrawl.types import Floats, Ints


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """Agreement of one rater with measures and other raters, as shares of sites with the same rank.

    Attributes
    ----------
    rater, rated
        Name of the rater, "" if the file names none; number of the known sites that are rated.
    measures
        Name -> share, each measure being cut into ranks in this rater's own proportions.
    chance
        The share expected by chance.
    mean_rating
        Share of agreement with the rank nearest to the mean of all ratings, this one included: the paper's reference.
    others
        Mean over the other raters, on the sites that both rated; None if there are none.
    """

    rater: str
    rated: int
    measures: dict[str, float]
    chance: float
    mean_rating: float
    others: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of measures with experts, on the sites that the crawl knows.

    Attributes
    ----------
    raters
        Figures of each rater.
    unknown
        Rated sites that the crawl does not know.
    measures
        Name -> mean share over the raters.
    mean_rating
        Name -> share of sites to which the measure gives the rank nearest to the mean of their ratings.
    pairs
        For each pair of raters with sites in common, the share on which they agree, in order.
    """

    raters: list[RaterAgreement]
    unknown: list[str]
    measures: dict[str, float]
    mean_rating: dict[str, float]
    pairs: list[float]


def agreement(ratings: Ratings, names: list[str], measures: Mapping[str, Floats]) -> Agreement:
    """Return the agreement of measures with raters, and of raters with each other.

    Parameters
    ----------
    ratings
        Ratings by each rater.
    names, measures
        The sites, and each measure of them: name -> shape (sites,).

    References
    ----------
    Abiteboul, Preda, Cobena (2003), section 6: sites rated from 1 to 4 by librarians. The reference is the mean of
    the ratings: a librarian agreed with it about 60 to 80 % of the sites, the measure, cut in the same proportions,
    about 65 %.
    """
    places = {name: place for place, name in enumerate(names)}
    rated = sorted({name for of in ratings.values() for name in of})
    known = [name for name in rated if name in places]
    where = np.array([places[name] for name in known], np.int64)
    given = np.array([[of.get(name, 0) for name in known] for of in ratings.values()], np.int64)
    values = {name: measure[where] for name, measure in measures.items()}
    pairs, common = _pairs(given), mean_rating(given)
    raters = [_rater(name, given[place], values, common, _others(pairs, place)) for place, name in enumerate(ratings)]
    means = {name: _mean(of.measures[name] for of in raters if of.rated) for name in measures}
    with_most = {name: identical(cut(value, common), common) for name, value in values.items()}
    unknown = [name for name in rated if name not in places]
    return Agreement(raters, unknown, means, with_most, sorted(pairs.values()))


def _rater(name: str, row: Ints, values: dict[str, Floats], common: Ints, others: float | None) -> RaterAgreement:
    rated = row > 0
    mine = row[rated]
    shares = {measure: identical(cut(value[rated], mine), mine) for measure, value in values.items()}
    return RaterAgreement(name, len(mine), shares, by_chance(mine, mine), identical(mine, common[rated]), others)


def _pairs(given: Ints) -> dict[tuple[int, int], float]:
    """Return for each pair of raters the share of the sites rated by both on which they agree."""
    found: dict[tuple[int, int], float] = {}
    for one, other in combinations(range(len(given)), 2):
        both = (given[one] > 0) & (given[other] > 0)
        if both.any():
            found[one, other] = identical(given[one][both], given[other][both])
    return found


def _others(pairs: dict[tuple[int, int], float], rater: int) -> float | None:
    shares = [share for pair, share in pairs.items() if rater in pair]
    return _mean(shares) if shares else None


def _mean(shares: Iterable[float]) -> float:
    values = list(shares)
    return sum(values) / len(values) if values else float("nan")
