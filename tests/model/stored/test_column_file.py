"""Columns in a file are those that were written, whichever values are asked for; what was spoiled is found."""

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from evercrawl.model.stored.derived import column_file
from evercrawl.model.stored.derived.column_file import BlockCache, ColumnFile, DamagedError, write_columns


class Header(msgspec.Struct, array_like=True, frozen=True):
    """What the file of a test says of itself."""

    name: str


def written(path, values, cache=None):
    write_columns(path, Header("test"), {"plain": values, "sorted": np.sort(values)}, frozenset({"sorted"}))
    return ColumnFile(path, Header, cache or BlockCache())


@settings(max_examples=60)
@given(
    values=arrays.arrays(np.uint32, st.integers(0, 70), elements=st.integers(0, 40) | st.integers(0, 2**32 - 1)),
    wanted=st.lists(st.integers(0, 45), max_size=12, unique=True),
    block=st.sampled_from([1, 3, 8, 100]),
)
def test_values_are_those_that_were_written(tmp_path_factory, values, wanted, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_file, "BLOCK", block)
        file = written(tmp_path_factory.mktemp("columns") / "file", values, BlockCache(most_bytes=64))
        assert file.header == Header("test")
        for name, column in (("plain", values), ("sorted", np.sort(values))):
            assert file.count(name) == len(column)
            assert file.slice(name).tolist() == column.tolist()
            assert file.slice(name, 3, 9).tolist() == column[3:9].tolist()
            places = np.array([place for place in wanted if place < len(column)], np.int64)
            assert file.take(name, places).tolist() == column[places].tolist()
        keys = np.sort(np.array(wanted, np.uint32))
        starts, stops = file.spans("sorted", keys)
        assert starts.tolist() == np.searchsorted(np.sort(values), keys, "left").tolist()
        assert stops.tolist() == np.searchsorted(np.sort(values), keys, "right").tolist()
        file.close()


def test_every_byte_counts(tmp_path):
    path, values = tmp_path / "file", np.arange(30, dtype=np.uint32) * 7919
    written(path, values).close()
    data = path.read_bytes()
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        try:
            file = ColumnFile(path, Header, BlockCache())
            found = file.slice("plain").tolist(), file.slice("sorted").tolist()
        except DamagedError:
            continue
        pytest.fail(f"byte {place} was changed and the file read as {found}")
    for size in range(len(data)):
        path.write_bytes(data[:size])
        with pytest.raises(DamagedError):
            ColumnFile(path, Header, BlockCache())


def test_a_file_can_be_read_on_when_its_name_is_gone(tmp_path):
    file = written(tmp_path / "file", np.arange(9, dtype=np.uint32))
    (tmp_path / "file").unlink()
    assert file.slice("plain").tolist() == list(range(9))
    file.close()


def test_what_could_not_be_written_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(column_file.msgspec.msgpack, "encode", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        written(tmp_path / "file", np.arange(9, dtype=np.uint32))
    assert list(tmp_path.iterdir()) == []
