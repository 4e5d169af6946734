"""Scales on which the components of RPUC's vectors, which have different units, can be added."""

from typing import Final

import numpy as np

from evercrawl.types import Floats

SCALES: Final = ("log", "rank")
_STEPS: Final = 2048  # entries of a table of ranks
_FAR: Final = 1e-9  # minimum of a component, in units of its usual value
_COUNTED: Final = np.array([True, False, False, True])  # retrievals and clicks, which are 0 for most pages


class Scale:
    """A mapping of components to values relative to other pages.

    Parameters
    ----------
    vectors
        Vectors of the reference pages, shape (n, 4), n > 0.
    kind
        `rank`: the share of pages with a smaller component, from 0 to 1; pages with an equal one count half. `log`: the
        logarithm of the ratio to the usual value (for retrievals and clicks, of the ratio plus one, so that no events
        give 0); the usual value is the mean over the pages where the component is above 0.

    Examples
    --------
    >>> four = np.array([[0, 1.0, 1.0, 0], [0, 3.0, 1.0, 0], [0, 5.0, 1.0, 0], [0, 7.0, 1.0, 0]])
    >>> Scale(four, "rank")(four)[:, 1]
    array([0.125, 0.375, 0.625, 0.875])
    >>> Scale(four, "log")(np.array([[0.0, 8.0, 1.0, 0.0]])).round(3)
    array([[0.   , 0.693, 0.   , 0.   ]])
    """

    def __init__(self, vectors: Floats, kind: str) -> None:
        some = vectors > 0
        self.usual: Floats = np.where(some, vectors, 0.0).sum(0) / np.maximum(some.sum(0), 1)
        self.usual[self.usual == 0] = 1.0
        picked = np.linspace(0, len(vectors) - 1, min(len(vectors), _STEPS)).round().astype(np.int64)
        self._sorted = np.sort(vectors, axis=0)[picked] if kind == "rank" else None

    def __call__(self, vectors: Floats) -> Floats:
        """Return the scaled components, shape (n, 4)."""
        if self._sorted is None:
            times = vectors / self.usual
            return np.log(np.where(_COUNTED, 1.0 + times, np.maximum(times, _FAR)))
        columns = zip(self._sorted.T, vectors.T, strict=True)
        return np.stack([_ranks(np.ascontiguousarray(table), column) for table, column in columns], axis=-1)


def _ranks(table: Floats, values: Floats) -> Floats:
    below, upto = (np.searchsorted(table, values, side=side) for side in ("left", "right"))
    found: Floats = (below + upto) / (2 * len(table))
    return found
