"""Agreement: how well a measure of importance goes with what people say who rate the same things."""

import numpy as np

from evercrawl.types import Floats, Ints


def cut(values: Floats, like: Ints) -> Ints:
    """Return ranks for what was measured, as many of each as a rater gave: the largest values get the best rank.

    Parameters
    ----------
    values
        The measure, shape (n,); equal values keep their order, the first being taken for the larger.
    like
        What the rater gave to the same n things, shape (n,), larger being better.

    Examples
    --------
    >>> cut(np.array([0.1, 0.7, 0.2, 0.9]), np.array([1, 1, 2, 4]))
    array([1, 2, 1, 4])
    """
    found = np.empty_like(like)
    found[np.argsort(-values, kind="stable")] = -np.sort(-like)
    return found


def identical(one: Ints, other: Ints) -> float:
    """Return the share of ranks that are the same, of two lists of shape (n,); nan where there are none.

    >>> identical(np.array([1, 2, 4, 4]), np.array([1, 2, 3, 4]))
    0.75
    """
    return float(np.count_nonzero(one == other) / len(one)) if len(one) else float("nan")


def by_chance(one: Ints, other: Ints) -> float:
    """Return the share that would be the same if the two knew nothing of each other; nan where there are none.

    >>> by_chance(np.array([1, 1, 2, 2]), np.array([1, 2, 2, 2]))
    0.5
    """
    if not len(one):
        return float("nan")
    most = int(max(one.max(), other.max())) + 1
    return float(np.dot(np.bincount(one, minlength=most), np.bincount(other, minlength=most))) / len(one) ** 2


def mean_rating(ratings: Ints) -> Ints:
    """Return the rank nearest to the mean of what raters gave to each thing, shape (n,); halves are rounded up.

    Parameters
    ----------
    ratings
        Of each rater, shape (raters, n); 0 where one did not rate, which at least one has to have done.

    Examples
    --------
    >>> mean_rating(np.array([[1, 4, 3], [1, 3, 0], [2, 3, 0], [2, 1, 0]]))
    array([2, 3, 3])
    """
    mean = ratings.sum(axis=0) / np.maximum((ratings > 0).sum(axis=0), 1)
    nearest: Ints = np.floor(mean + 0.5).astype(np.int64)
    return nearest
