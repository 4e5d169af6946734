"""How the kernels of this package are compiled, and the words for their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

Bytes: TypeAlias = NDArray[np.uint8]
Spans: TypeAlias = NDArray[np.int64]
P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Return `function` compiled at its first call, the result kept on disk; it runs without the GIL."""
    try:
        quick = numba.njit(cache=True, nogil=True)(cast("Any", function))  # pyright: ignore
    except RuntimeError:  # this user may write neither beside the file nor at home: every start compiles anew
        quick = numba.njit(nogil=True)(cast("Any", function))  # pyright: ignore
    return cast("Callable[P, R]", quick)  # pyright: ignore
