"""The codec's inner loops, compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

import numba
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from evercrawl.types import Slots

P = ParamSpec("P")
R = TypeVar("R")


def _compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Return `function` compiled at its first call, with the result kept on disk, and running without the GIL."""
    try:
        quick = numba.njit(cache=True, nogil=True)(function)  # pyright: ignore
    except RuntimeError:  # this user may write neither beside the file nor at home: every start compiles anew
        quick = numba.njit(nogil=True)(function)  # pyright: ignore
    return cast("Callable[P, R]", quick)  # pyright: ignore


@_compiled
def encode(ascending: Slots) -> NDArray[np.uint8]:
    """Return the gaps between the distinct numbers of `ascending`, seven bits a byte, the low ones first."""
    out = np.empty(5 * ascending.size, np.uint8)
    size = 0
    least = np.int64(0)
    for slot in ascending:
        gap = np.int64(slot) - least
        if gap < 0:  # the same again
            continue
        least = np.int64(slot) + 1
        while gap >= 128:
            out[size] = (gap & 127) | 128
            size += 1
            gap >>= 7
        out[size] = gap
        size += 1
    return out[:size]


@_compiled
def decode(data: NDArray[np.uint8]) -> Slots:
    """Return what `encode` was given, without repetitions."""
    out = np.empty(data.size, np.uint32)
    count = 0
    least = np.int64(0)
    gap = np.int64(0)
    shift = 0
    for byte in data:
        gap |= np.int64(byte & 127) << shift
        shift += 7
        if byte < 128:
            out[count] = least + gap
            count += 1
            least += gap + 1
            gap = np.int64(0)
            shift = 0
    return out[:count]
