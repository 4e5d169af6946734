"""Columns that grow: small ones are copied, large ones stay where they are."""

import numpy as np
import pytest

from evercrawl.arrays.rows import OWN_BYTES, grown


@pytest.mark.parametrize("shape", [(), (2,)])
@pytest.mark.parametrize("first", [None, 7])
def test_a_large_column_grows_where_it_is(shape, first):
    column, rows = np.full((3, *shape), 9, np.uint16), OWN_BYTES
    column = grown(column, rows, first)
    at = column.ctypes.data
    column[rows - 1] = 5
    for least in (rows, rows + 1, 3 * rows, 40 * rows):
        before = len(column)
        column = grown(column, least, first)
        assert column.ctypes.data == at, "it was copied"
        assert len(column) >= least
        assert (column[before:] == (first or 0)).all()
    assert (column[:3] == 9).all()
    assert (column[3 : rows - 1] == (first or 0)).all()
    assert (column[rows - 1] == 5).all()


def test_rows_of_others_are_not_taken():
    whole = np.arange(2 * OWN_BYTES, dtype=np.uint32)
    column = grown(whole[:OWN_BYTES], OWN_BYTES + 1)
    assert (column[:OWN_BYTES] == whole[:OWN_BYTES]).all()
    assert not column[OWN_BYTES:].any()
    column[0] = 77
    assert whole[0] == 0
    assert grown(column[1:], 3 * OWN_BYTES)[0] == 1, "it does not begin where the column did"
    copy = column[: OWN_BYTES + 1].copy()
    assert grown(copy, 2 * OWN_BYTES).ctypes.data != column.ctypes.data


def test_what_another_column_freed_is_zero():
    for mark in (1, 2, 3):
        column = grown(np.zeros(0, np.uint8), 2 * OWN_BYTES)
        assert not column.any()
        column[:] = mark
