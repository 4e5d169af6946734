"""Rows in files are the same rows, and take no memory while they rest."""

import errno
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from evercrawl.arrays.rows import Rows
from evercrawl.arrays.shelf import CHUNK_BYTES, Shelf

COUNT = 1 << 19


def _filled() -> Rows:
    rows = Rows("u8")
    rows.upto(COUNT)[:] = np.arange(COUNT)
    return rows


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with closing(Shelf(tmp_path)) as made:
        yield made


def _settled(shelf: Shelf) -> None:
    while shelf.tend():
        pass


def test_rows_are_the_same_and_take_no_memory(shelf: Shelf, tmp_path: Path) -> None:
    rows = _filled()
    address = rows.all().ctypes.data
    shelf.keep([rows])
    _settled(shelf)
    assert shelf.moved_bytes == rows.moved_bytes == COUNT * 8
    assert shelf.resident_bytes() == 0
    assert rows.nbytes == 0
    assert rows.all().ctypes.data == address
    assert (rows.all() == np.arange(COUNT)).all()
    assert shelf.resident_bytes() > 0
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_to_rows_in_files_lasts_over_many_rounds(shelf: Shelf) -> None:
    rows, draw = _filled(), np.random.default_rng(1)
    shelf.keep([rows])
    expected = np.arange(COUNT, dtype=np.uint64)
    for _ in range(8):
        _settled(shelf)
        where = draw.integers(0, COUNT, 300)
        values = draw.integers(0, 1 << 60, 300).astype(np.uint64)
        rows.all()[where], expected[where] = values, values
        assert (rows.all() == expected).all()
    _settled(shelf)
    assert (rows.all() == expected).all()


def test_rows_grow_behind_those_in_files(shelf: Shelf) -> None:
    rows = _filled()
    shelf.keep([rows])
    for upto in range(COUNT, 2 * COUNT, COUNT // 7):
        before = len(rows)
        rows.upto(upto)[before:] = np.arange(before, upto)
        _settled(shelf)
    assert (rows.all() == np.arange(len(rows))).all()
    assert rows.moved_bytes == len(rows) * 8 // CHUNK_BYTES * CHUNK_BYTES


def test_rows_that_are_replaced_get_a_file_of_their_own(shelf: Shelf) -> None:
    rows = _filled()
    shelf.keep([rows])
    _settled(shelf)
    rows.restore(np.full(COUNT, 5, np.uint64))
    assert rows.moved_bytes == 0
    _settled(shelf)
    assert rows.moved_bytes == COUNT * 8
    assert (rows.all() == 5).all()


def test_a_full_disk_leaves_rows_in_memory(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = _filled()
    shelf.keep([rows])
    shelf.tend()
    half = rows.moved_bytes
    rows.all()[:] += np.uint64(1)

    def refuse(*_: object) -> int:
        raise OSError(errno.ENOSPC, "no room")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", refuse)
        assert not shelf.tend()
        assert shelf.full
        assert rows.moved_bytes == half
        assert (rows.all() == np.arange(COUNT) + 1).all()
    _settled(shelf)
    assert not shelf.full
    assert shelf.resident_bytes() == 0
    assert (rows.all() == np.arange(COUNT) + 1).all()


def test_a_system_that_does_not_say_what_was_written_to_has_all_written(tmp_path: Path) -> None:
    rows = _filled()
    with closing(Shelf(tmp_path, pages=tmp_path / "none")) as shelf:
        shelf.keep([rows])
        shelf.tend()
        rows.all()[::100] = 3
        for _ in range(4):
            shelf.tend()
    expected = np.arange(COUNT)
    expected[::100] = 3
    assert (rows.all() == expected).all()


def test_small_tables_stay_in_memory(shelf: Shelf) -> None:
    rows = Rows("u8")
    rows.upto(100)[:] = 1
    shelf.keep([rows])
    assert not shelf.tend()
    assert (shelf.moved_bytes, rows.nbytes) == (0, 800)
