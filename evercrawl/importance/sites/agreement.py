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


def majority(ratings: Ints) -> Ints:
    """Return the rank that most raters gave to each thing, shape (n,); of several the one nearest to their mean.

    Parameters
    ----------
    ratings
        Of each rater, shape (raters, n); 0 where one did not rate, which at least one has to have done.

    Examples
    --------
    >>> majority(np.array([[1, 4, 3], [1, 3, 0], [2, 3, 0], [2, 1, 0]]))
    array([1, 3, 3])
    """
    grades = np.arange(1, int(ratings.max(initial=1)) + 1)
    votes = (ratings[None] == grades[:, None, None]).sum(axis=1)
    mean = ratings.sum(axis=0) / np.maximum((ratings > 0).sum(axis=0), 1)
    far = np.abs(grades[:, None] - mean) / (len(grades) + 1)  # below 1, so it decides between equal votes alone
    best: Ints = grades[np.argmax(votes - far, axis=0)]
    return best
