"""When pages were found is told about right, by few marks, in a crawl that runs and in one that was opened again."""

import numpy as np

from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.table.known import FoundAt, KnownLog
from evercrawl.types import NO_SLOT


def test_of_many_pages_few_instants_are_kept_and_tell_all_about_right():
    found, at = FoundAt(), (np.sqrt(np.arange(200_000)) * 10).astype(np.uint32)
    for first in range(0, len(at), 1000):
        found.see(first, at[first : first + 1000])
    told = found.at(np.arange(len(at)))
    assert len(found) < 400
    assert np.abs(told - at).max() <= 0.02 * at.max()


def test_nothing_is_told_before_anything_was_found():
    assert np.isnan(FoundAt().at(np.arange(3))).all()


def test_a_log_that_is_opened_again_tells_the_same(tmp_path):
    disk = RealDisk(tmp_path)
    log = KnownLog(disk, 0)
    for k in range(40):
        log.append(np.arange(50, dtype=np.uint64), [0] * 50, 100 * k, NO_SLOT, 1, 0)
    log.flush()
    slots = np.arange(2000)
    again = KnownLog(disk, log.count)
    np.testing.assert_array_equal(again.found_at.at(slots), log.found_at.at(slots))
    assert np.abs(log.found_at.at(slots) - 100 * (slots // 50)).max() <= 200
