"""Addresses of tables: never of where a table was."""

import ctypes
import gc
import weakref

import numpy as np

from evercrawl.arrays import Addresses, Rows


def at(address, kind, count):
    return np.ctypeslib.as_array(ctypes.cast(int(address), ctypes.POINTER(kind)), (int(count),))


def read(where, k):
    """The numbers of table k as a kernel finds them: by nothing but an address."""
    words = at(where.at(), ctypes.c_int64, 4)
    return at(words[2 * k], ctypes.c_double, words[2 * k + 1])


def test_words_follow_tables_that_grow_are_restored_or_both():
    one, other = Rows("f8"), Rows("f8")
    where = Addresses(one, other)
    for count in range(1, 3000, 7):
        one.upto(count)[-1] = count
        other.upto(3000 - count)
        assert read(where, 0)[count - 1] == count
        assert len(read(where, 1)) >= len(other)
        assert not read(where, 0)[count:].any(), "room is as new rows are"
        if count % 5 == 0:
            one.restore(one.all()[::-1].copy())
            assert read(where, 0)[: len(one)].tolist() == one.all().tolist()


def test_as_many_rows_elsewhere_are_found():
    """A table of the same length whose address the allocator gave out anew, or did not."""
    table = Rows("f8", rows=np.zeros(100))
    where = Addresses(table)
    for k in range(50):
        table.restore(np.full(100, float(k)))
        assert at(where.at(), ctypes.c_int64, 2).tolist() == [table.all().ctypes.data, 100]


def test_what_words_point_to_lives_until_they_are_asked_for_again():
    table = Rows("f8", rows=np.zeros(8))
    where = Addresses(table)
    where.at()
    array = weakref.ref(table.whole())
    table.upto(1000)
    gc.collect()
    assert array() is not None
    where.at()
    gc.collect()
    assert array() is None
