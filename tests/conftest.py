"""What all tests share: they wait for no disk."""

import os
from collections.abc import Iterator

import hypothesis
import pytest

hypothesis.settings.register_profile("unhurried", deadline=None)  # machines are busy, and kernels compiled once
hypothesis.settings.load_profile("unhurried")

REAL = ("store", "live")
"""Folders whose tests sync in earnest."""


@pytest.fixture(autouse=True, scope="module")
def _unsynced(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let no test of a module wait for a disk: no power is cut here, and what a sync is
    for `simulate.surroundings.disk` shows.

    A crawl syncs hundreds of times in a made-up minute; on a busy disk that took longer than all the rest.
    """
    if not {*REAL}.isdisjoint(request.path.parts):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        for name in ("fsync", "fdatasync"):
            patch.setattr(os, name, lambda file: os.fstat(file) and None)  # a file that is closed is still found out
        yield
