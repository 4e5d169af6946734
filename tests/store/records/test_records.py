"""Records: one cache line a page."""

import numpy as np

from evercrawl.store.records.records import RECORD, Records
from evercrawl.store.table.table import NO_RECORD


def test_record_is_a_cache_line_with_aligned_fields():
    assert RECORD.itemsize == 96
    for kind, offset in RECORD.fields.values():
        assert offset % kind.itemsize == 0


def test_rows_stay_while_records_are_added():
    records = Records(capacity=100)
    rows = records.rows
    first, second = records.add(), records.add()
    values = (7, 1, 16, 2000, 2**64 - 1, 5, 99, 0.5, 0.25, 1.0, 2.0, 8, 17, 999, 16, 77, 3, 1, 200, 1, 4, 6, 3, -5, 9)
    rows[second] = values
    assert (first, second, records.count) == (0, 1, 2)
    assert records.rows[1].item() == values
    assert records.rows["digest"][0] == 0


def test_bytes_of_rows_are_the_rows():
    records = Records(capacity=100)
    records.resize(3)
    records.rows["slot"][:3] = [5, 6, 7]
    copy = np.frombuffer(records.rows[:3].copy().tobytes(), RECORD)
    assert copy["slot"].tolist() == [5, 6, 7]


def test_records_taken_away_come_back_empty():
    records = Records(capacity=10)
    for slot in (3, 4):
        records.rows["slot"][records.add()] = slot
    records.resize(1)
    assert records.count == 1
    assert records.add() == 1
    assert records.rows["slot"][:2].tolist() == [3, 0]


def test_what_is_kept_of_pages_grows_with_them_and_is_forgotten_when_it_is_another():
    records = Records(1000, width=2)
    for i in range(3):
        records.kept[records.add()] = i, 10 * i
    cells = np.array([2, NO_RECORD | 5, 0], np.uint32)
    assert records.kept_at(cells).tolist() == [[2.0, 20.0], [0.0, 0.0], [0.0, 0.0]]
    records.resize(2)
    records.resize(3)
    assert records.kept_at(cells).tolist() == [[0.0, 0.0]] * 3
    assert records.kept_at(np.array([1], np.uint32)).tolist() == [[1.0, 10.0]]
    records.keep(1)
    assert records.kept_at(cells).tolist() == [[0.0]] * 3
    records.keep(0)
    assert records.kept_at(cells) is None
