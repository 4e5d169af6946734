"""What experts say of sites: a table of ratings, and how well a measure of importance agrees with it."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from evercrawl.errors import ConfigError
from evercrawl.importance.agreement import by_chance, cut, identical, majority
from evercrawl.parse.sites import site
from evercrawl.parse.urls import hostname, normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from evercrawl.types import Floats, Ints

MOST: Final = 4
"""The highest rating; the lowest is 1."""
FORM: Final = "it must be a CSV file with the columns site and rating (1 to 4), and rater where there are several"

Ratings: TypeAlias = dict[str, dict[str, int]]
"""Rater -> site -> rating from 1 to `MOST`, the largest being the best."""


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """How well one rater agrees with others; shares of sites that are given the same rank.

    Attributes
    ----------
    rater, rated
        "" where the file names none; how many of the sites in question are rated.
    measures
        Name -> share, each measure being cut into ranks in this rater's own proportions.
    chance
        The share for a measure that knows nothing.
    majority
        With the rank that most raters gave, this one included.
    others
        Mean over the other raters, on the sites that both rated; None where there are none.
    """

    rater: str
    rated: int
    measures: dict[str, float]
    chance: float
    majority: float
    others: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well measures agree with experts, on the sites that the crawl knows.

    Attributes
    ----------
    raters
        One by one.
    unknown
        Rated sites that the crawl does not know.
    measures
        Name -> mean share over the raters.
    majority
        Name -> share of sites that the measure gives the rank that most raters gave them.
    pairs
        Of each pair of raters with sites in common, the share that they agree about, in order.
    """

    raters: list[RaterAgreement]
    unknown: list[str]
    measures: dict[str, float]
    majority: dict[str, float]
    pairs: list[float]


def read_ratings(path: Path, best: int = MOST) -> Ratings:
    """Return the ratings in a CSV file.

    Its first line names the columns: site and rating, and rater where there are several. A site may be given by any of
    its hosts or URLs. Commas, semicolons or tabs part the columns.

    Parameters
    ----------
    path
        The file.
    best
        Which rating is the best, `MOST` or 1.

    Raises
    ------
    ConfigError
        It is none, or a line is not as it should be; the message names the line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is no text in UTF-8; {FORM}") from error
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}; {FORM}") from error
    ratings, lines = defaultdict[str, dict[str, int]](dict), dict[tuple[str, str], int]()
    for number, row in _rows(path, text):
        rater, name = (row.get("rater") or "").strip(), _site(path, number, row.get("site"))
        earlier = lines.setdefault((rater, name), number)
        if earlier != number:
            who = f"{rater} rated {name}" if rater else f"{name} was rated"
            raise ConfigError(f"{path}, line {number}: {who} on line {earlier} already; leave one of the two")
        rating = _rating(path, number, row.get("rating"))
        ratings[rater][name] = rating if best == MOST else MOST + 1 - rating
    if not ratings:
        raise ConfigError(f"{path} rates no site; {FORM}")
    return dict(ratings)


def agreement(ratings: Ratings, names: list[str], measures: Mapping[str, Floats]) -> Agreement:
    """Return how well measures agree with raters, and these with each other.

    Parameters
    ----------
    ratings
        Of the raters.
    names, measures
        The sites, and each measure of them: name -> shape (sites,).

    References
    ----------
    Abiteboul, Preda, Cobena (2003), section 6: sites rated from 1 to 4 by librarians, who agreed about 60 to 80 % of
    them with each other and about 65 % with the measure, cut in the same proportions.
    """
    places = {name: place for place, name in enumerate(names)}
    rated = sorted({name for of in ratings.values() for name in of})
    known = [name for name in rated if name in places]
    where = np.array([places[name] for name in known], np.int64)
    given = np.array([[of.get(name, 0) for name in known] for of in ratings.values()], np.int64)
    values = {name: measure[where] for name, measure in measures.items()}
    pairs, common = _pairs(given), majority(given)
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
    """Return for each pair of raters the share of the sites that both rated about which they agree."""
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


def _rows(path: Path, text: str) -> list[tuple[int, dict[str, str | None]]]:
    """Return the number of each line that is not empty, and what stands in its columns."""
    head = text.partition("\n")[0]
    reader = csv.DictReader(text.splitlines(), delimiter=max(",;\t", key=head.count))
    try:
        columns = [name.strip().lower() for name in reader.fieldnames or ()]
        reader.fieldnames = columns
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise ConfigError(f"{path}, line {reader.line_num + 1}: {error}; {FORM}") from error
    if not {"site", "rating"} <= set(columns):
        raise ConfigError(f"{path}, line 1: it names the columns {', '.join(columns) or 'of nothing'}; {FORM}")
    return rows


def _site(path: Path, number: int, raw: str | None) -> str:
    text = (raw or "").strip()
    url = normalise(text if "://" in text else f"http://{text}/") if text else None
    if url is None:
        raise ConfigError(f"{path}, line {number}: {text!r} is no site; write it as example.org")
    return site(hostname(url))


def _rating(path: Path, number: int, raw: str | None) -> int:
    text = (raw or "").strip()
    if text not in ("1", "2", "3", "4"):
        raise ConfigError(f"{path}, line {number}: the rating is {text!r}; it must be 1, 2, 3 or 4")
    return int(text)
