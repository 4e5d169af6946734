"""Columns that grow as pages become known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray


def grown(column: NDArray[Any], least: int) -> NDArray[Any]:
    """Return a column with room for `least`, at least; what is new is 0.

    >>> grown(np.ones(1), 2)
    array([1., 0.])
    """
    if least <= len(column):
        return column
    return np.concatenate([column, np.zeros((least + least // 4 - len(column), *column.shape[1:]), column.dtype)])
