"""Records: one cache line a page."""

import numpy as np

from evercrawl.store.records import RECORD, Records


def test_record_is_a_cache_line_with_aligned_fields():
    assert RECORD.itemsize == 96
    for kind, offset in RECORD.fields.values():
        assert offset % kind.itemsize == 0


def test_rows_stay_while_records_are_added():
    records = Records(capacity=100)
    rows = records.rows
    first, second = records.add(), records.add()
    values = (7, 1, 16, 2000, 2**64 - 1, 5, 99, 0.5, 0.25, 1.0, 2.0, 8, 17, 999, 16, 77, 3, 1, 200, 1, 4, 6, 3)
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
