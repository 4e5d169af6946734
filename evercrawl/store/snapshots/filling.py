"""Filling of columns from frames, with the last saved version of each block."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evercrawl.store.snapshots.frames import data_of
from evercrawl.types import Keys, Slots

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from evercrawl.store.disk.disk import Disk
    from evercrawl.store.snapshots.frames import PlacedFrame


def fill(targets: NDArray[np.uint8], placed: Sequence[PlacedFrame], column: str, kind: str, disk: Disk) -> Keys:
    """Fill the blocks of a column, shape (blocks, block size); return the sequence at which each was copied.

    Raises
    ------
    ValueError, msgspec.MsgspecError, zstandard.ZstdError
        A frame is damaged, or a block has none.
    """
    sequences = np.zeros(len(targets), np.uint64)
    for frame, places, live in live_blocks(placed, column, len(targets)):
        found = np.frombuffer(data_of(disk, kind, frame), np.uint8).reshape(len(frame.blocks), -1)
        _put(targets, live, found if len(places) == len(found) else found[places])
        sequences[live] = frame.sequence
    return sequences


def live_blocks(placed: Sequence[PlacedFrame], column: str, blocks: int) -> Iterator[tuple[PlacedFrame, Slots, Slots]]:
    """Yield the frames with the last version of a column's blocks; their indexes in the frame, and in the column.

    Raises
    ------
    ValueError
        A block has no frame.
    """
    mine = [frame for frame in placed if frame.column == column]
    last = np.full(blocks, -1, np.int64)
    for number, frame in enumerate(mine):
        last[frame.blocks[frame.blocks < blocks]] = number
    if blocks and int(last.min()) < 0:
        raise ValueError(f"block {int(np.argmin(last))} of {column} is missing")
    numbers: list[int] = np.flatnonzero(np.bincount(last)).tolist()  # np.unique would load masked arrays
    for number in numbers:
        frame = mine[number]
        inside = frame.blocks < blocks
        places = np.flatnonzero(inside)
        places = places[last[frame.blocks[places]] == number].astype(np.uint32)
        yield frame, places, frame.blocks[places]


def _put(targets: NDArray[np.uint8], blocks: Slots, found: NDArray[np.uint8]) -> None:
    """Write blocks to their places, consecutive ones at once."""
    first, last = int(blocks[0]), int(blocks[-1])
    if last - first + 1 == len(blocks):
        targets[first : last + 1] = found
    else:
        targets[blocks] = found
