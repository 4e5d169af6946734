"""Agreement between a measure of importance and the ratings of people."""

import numpy as np

from evercrawl.types import Floats, Ints


def cut(values: Floats, like: Ints) -> Ints:
    """Return ranks for measured values, each rank as often as a rater gave it: the largest values get the best rank.

    Parameters
    ----------
    values
        The measured values, shape (n,); of equal values the first counts as the larger.
    like
        The rater's ranks of the same n items, shape (n,); larger is better.

    Examples
    --------
    >>> cut(np.array([0.1, 0.7, 0.2, 0.9]), np.array([1, 1, 2, 4]))
    array([1, 2, 1, 4])
    """
    found = np.empty_like(like)
    found[np.argsort(-values, kind="stable")] = -np.sort(-like)
    return found


def identical(one: Ints, other: Ints) -> float:
    """Return the share of equal ranks in two lists of shape (n,); nan for empty lists.

    >>> identical(np.array([1, 2, 4, 4]), np.array([1, 2, 3, 4]))
    0.75
    """
    return float(np.count_nonzero(one == other) / len(one)) if len(one) else float("nan")


def by_chance(one: Ints, other: Ints) -> float:
    """Return the share of ranks that would be equal if the lists were independent; nan for empty lists.

    >>> by_chance(np.array([1, 1, 2, 2]), np.array([1, 2, 2, 2]))
    0.5
    """
    if not len(one):
        return float("nan")
    most = int(max(one.max(), other.max())) + 1
    return float(np.dot(np.bincount(one, minlength=most), np.bincount(other, minlength=most))) / len(one) ** 2


def mean_rating(ratings: Ints) -> Ints:
    """Return the rank nearest to the mean rating of each item, shape (n,); halves are rounded up.

    Parameters
    ----------
    ratings
        Ratings of each rater, shape (raters, n); 0 for none. Each item needs at least one rating.

    Examples
    --------
    >>> mean_rating(np.array([[1, 4, 3], [1, 3, 0], [2, 3, 0], [2, 1, 0]]))
    array([2, 3, 3])
    """
    mean = ratings.sum(axis=0) / np.maximum((ratings > 0).sum(axis=0), 1)
    nearest: Ints = np.floor(mean + 0.5).astype(np.int64)
    return nearest
