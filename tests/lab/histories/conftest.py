"""Histories made by hand."""

from collections.abc import Callable

import numpy as np
import pytest
from hand_made import asked, begun, filled, made, ten  # noqa: F401 - fixtures

from evercrawl.lab.histories import History, LinkLog

DAY = 86_400


@pytest.fixture
def made_up() -> Callable[..., History]:
    """Return what makes a history of rows (day, page, op, simhash, content) and links (day, from, to, there)."""

    def make(rows, paths=None, links=(), sites=("site",), site=None, seen=None) -> History:
        day, page, op, simhash, content = zip(*((*row, *(0, 0)[: 5 - len(row)]) for row in rows), strict=True)
        pages = max(page) + 1
        paths = tuple(paths or (f"page{i}" for i in range(pages)))
        at = (np.array(day) * DAY).astype(np.int64)
        days, source, target, there = zip(*links, strict=True) if links else ((), (), (), ())
        log = LinkLog(
            (np.array(days) * DAY).astype(np.int64), np.array(source, np.int64), np.array(target, np.int64),
            np.array(there, np.bool_),
        )  # fmt: skip
        unknown = np.full(len(at), -1, np.int64)
        return History(
            "made", at, np.array(page, np.int64), np.array(op, np.int8), unknown, unknown,
            np.array(simhash, np.uint64), np.array(content, np.uint64), paths,
            np.zeros(len(paths), np.int64) if site is None else np.array(site), sites, log, seen,
        )  # fmt: skip

    return make
