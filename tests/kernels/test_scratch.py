"""Room on the stack: as much as is said, and every call of it another."""

import numpy as np

from evercrawl.kernels.build import compiled, view
from evercrawl.kernels.scratch import LENGTH, scratch


@compiled
def two(ones, others):
    one, other = view(scratch(), LENGTH), view(scratch(), LENGTH)
    for k in range(LENGTH):
        one[k], other[k] = k, -k
    for k in range(LENGTH):
        ones[k], others[k] = one[k], other[k]


def test_every_call_gives_room_of_its_own():
    import numba

    ones, others = np.zeros(LENGTH), np.zeros(LENGTH)
    numba.njit(lambda a, b: two(a, b))(ones, others)
    assert ones.tolist() == list(range(LENGTH))
    assert (ones == -others).all()
