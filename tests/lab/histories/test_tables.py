"""Histories on disk, and what is wrong with some."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evercrawl.errors import ConfigError
from evercrawl.lab.histories import read_history

EVENTS = {
    "t": [5, 7, 7], "page": [0, 1, 0], "op": [0, 0, 1], "size": [9, 9, -1], "words": [2, 2, 3],
    "simhash": [2**64 - 1, 1, 2], "content": [2**32 - 1, 4, 5],
}  # fmt: skip
PAGES = {"page": [1, 0], "path": ["b", "a"]}
LINKS = {"t": [6, 7], "src": [0, 0], "dst": [1, 1], "present": [True, False]}


def write(folder, events=None, pages=None, links=None):
    tables = {"events": EVENTS | (events or {}), "pages": PAGES | (pages or {}), "links": LINKS | (links or {})}
    for kind, columns in tables.items():
        kept = {name: column for name, column in columns.items() if column is not None}
        types = {"simhash": pa.uint64(), "content": pa.uint32()}
        arrays = {name: pa.array(column, types.get(name)) for name, column in kept.items()}
        pq.write_table(pa.table(arrays), folder / f"h.{kind}.parquet")
    return folder / "h"


def test_all_columns_are_read_and_pages_stand_in_the_order_of_their_numbers(tmp_path):
    found = read_history(write(tmp_path))
    assert (found.name, found.paths, found.sites, found.site.tolist()) == ("h", ("a", "b"), ("h",), [0, 0])
    assert found.at.tolist() == EVENTS["t"]
    assert found.op.tolist() == EVENTS["op"]
    assert (found.size_bytes.tolist(), found.words.tolist()) == (EVENTS["size"], EVENTS["words"])
    assert found.simhash.tolist() == EVENTS["simhash"]
    assert found.content.dtype == np.uint64
    assert (found.links.source.tolist(), found.links.present.tolist()) == ([0, 0], [True, False])


def test_pages_need_not_link(tmp_path):
    path = write(tmp_path)
    path.with_name("h.links.parquet").unlink()
    assert len(read_history(path).links) == 0


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"events": {"t": [7, 5, 7]}}, "rows must be sorted by t"),
        ({"events": {"page": [0, 2, 0]}}, "a row names a page that h.pages.parquet does not list"),
        ({"events": {"op": [0, 4, 1]}}, "op must be 0, 1, 2 or 3"),
        ({"events": {"simhash": None, "op": None}}, "has no column op, simhash: it must have t, page, op, size"),
        ({"events": {"t": [5.0, 7.0, 7.0]}}, "column t must be whole numbers in each row, not double"),
        ({"events": {"t": ["5", "7", "7"]}}, "column t must be whole numbers in each row, not string"),
        (
            {"events": {"size": [1, None, 2]}},
            "column size must be whole numbers in each row, not int64, with nulls",
        ),
        ({"pages": {"path": ["b", None]}}, "column path must be text in each row, not string, with nulls"),
        ({"pages": {"page": [1, 1]}}, "must have each number from 0 once"),
        ({"links": {"dst": [1, 9]}}, "a row names a page that"),
    ],
)
def test_a_table_that_is_wrong_is_told(tmp_path, wrong, says):
    path = write(tmp_path, **wrong)
    with pytest.raises(ConfigError, match=says):
        read_history(path)


def test_a_table_that_is_missing_or_none_is_told(tmp_path):
    path = write(tmp_path)
    path.with_name("h.pages.parquet").write_bytes(b"no table")
    with pytest.raises(ConfigError, match="cannot be read as a Parquet table"):
        read_history(path)
    path.with_name("h.pages.parquet").unlink()
    with pytest.raises(ConfigError, match=r"a history is FOLDER/NAME\.events"):
        read_history(path)
