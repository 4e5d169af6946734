"""A hint changes nothing, wherever it points."""

import numpy as np

from evercrawl.kernels.build import compiled
from evercrawl.kernels.prefetch import prefetch


@compiled
def hinted(array):
    for place in (0, len(array) - 1, len(array), -1, 1 << 50):
        prefetch(array, place)
    return array.sum()


def test_a_hint_is_only_a_hint():
    import numba

    array = np.arange(5.0)
    assert numba.njit(lambda a: hinted(a))(array) == 10
    assert array.tolist() == [0, 1, 2, 3, 4]
