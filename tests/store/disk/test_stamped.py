"""Files that are named after how much of the journal they know, and pieces with checksums."""

import pytest

from evercrawl.store.disk import stamped
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.disk.stamped import END, packed, pieces


def test_of_each_kind_the_newest_two_stay_and_strangers_are_left_alone(tmp_path):
    disk = RealDisk(tmp_path)
    for sequence in (5, 300, 70):
        disk.replace(stamped.stamped("lessons", sequence), [b"x"])
        disk.replace(stamped.stamped("snapshot", sequence), [b"x"])
    for strange in ("lessons-7.bin", "lessons-notes.txt", "lessons-zz00000000000000.bin"):
        disk.replace(strange, [b"x"])
    stamped.forget_older(disk, "lessons")
    assert [stamped.stamp(name) for name in stamped.names(disk, "lessons")] == [300, 70]
    stamped.forget_later(disk, "lessons", 70)
    assert [stamped.stamp(name) for name in stamped.names(disk, "lessons")] == [70]
    assert [stamped.stamp(name) for name in stamped.names(disk, "snapshot")] == [300, 70, 5]
    assert len(disk.names("lessons-")) == 4


@pytest.mark.parametrize("change", ["cut", "flip", "magic", "none", "end"])
def test_what_is_not_whole_is_refused(change):
    data = bytearray(b"MAGIC" + packed(b"one") + packed(b"two") + END)
    if change == "cut":
        del data[-3:]
    elif change == "end":
        del data[-len(END) :]
    elif change == "flip":
        data[5 + 16] ^= 1
    elif change == "magic":
        data[0] ^= 1
    else:
        data = bytearray(b"MAGIC" + END)
    with pytest.raises(ValueError, match=r"checksum|begin|empty"):
        pieces(bytes(data), b"MAGIC")
