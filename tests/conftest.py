"""What all tests share: they wait for no disk, and keep no memory that they need no more."""

import ctypes
import gc
import os
import resource
import sys
import tempfile
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

hypothesis.settings.register_profile("unhurried", deadline=None)  # machines are busy, and kernels compiled once
hypothesis.settings.load_profile("unhurried")

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # tests start hundreds of processes: none compiles all sources anew

REAL = ("store", "live")
"""Folders whose tests sync in earnest."""
MOST_MIB = 1536
"""Memory that a process that runs tests may have had at once: 1.5 GiB. A run in which one had more has failed."""
M_ARENA_MAX = -8

LIBC = ctypes.CDLL(None)
LIBC.mallopt(M_ARENA_MAX, 1)  # else what the threads of one crawl freed is kept for none of the next
DURATIONS = "evercrawl/durations"
"""Where the cache of pytest has how long each test took (s), by name: `make quick` asks it."""
TRIM_MIB = 32
_trimmed_mib = 0
_peaks = pytest.StashKey[dict[str, int]]()
_took_s = defaultdict[str, float](float)


@pytest.hookimpl(optionalhook=True)  # for who runs tests without the plug-in
def pytest_xdist_auto_num_workers() -> int:
    """Return how many processes run tests: one more than there are cores, for many tests wait for other processes."""
    return len(os.sched_getaffinity(0)) + 1


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


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let strategies from outside the tree be loaded, as a command line lets those that it names."""
    monkeypatch.setattr("evercrawl.catalog.trusts", lambda _: True)


@pytest.fixture(autouse=True, scope="module")
def _tidied() -> Iterator[None]:
    """Free what a module has left in rings, for the whole machine; the command line, which lives shortly, does not."""
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    _collect()


@pytest.hookimpl(trylast=True)  # when its fixtures are gone
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Free what a test has left in rings, and give it back, where that may be much: a crawl that is done is a ring."""
    global _trimmed_mib
    mib = _resident_mib()
    if nextitem is not None and mib > _trimmed_mib + TRIM_MIB:
        _collect()
        _trimmed_mib = _resident_mib()
    _trimmed_mib = min(_trimmed_mib, mib)


def _collect() -> None:
    """Free rings, look at what is left no more (a crawl that ends has all of it looked at again), and give back."""
    gc.collect()
    gc.freeze()
    LIBC.malloc_trim(0)  # the allocator keeps it otherwise, in holes


def _resident_mib() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() >> 20


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no rings while all is collected: there are few, and each look is at all that there is by then."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Look at all that was collected once, and never again for rings."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    """Have all temporary files of this process, and of those that it begins, in a folder that goes with it.

    What tests are given as `tmp_path` stays where it was, for who looks at a failure.
    """
    config.stash[_peaks] = {}
    root = os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
    folder = tempfile.TemporaryDirectory(prefix="ec-", dir=root, ignore_cleanup_errors=True)
    before = {"TMPDIR": os.environ.get("TMPDIR"), "tempdir": tempfile.tempdir}
    os.environ["TMPDIR"] = tempfile.tempdir = folder.name

    def tidy() -> None:
        tempfile.tempdir = before["tempdir"]
        if before["TMPDIR"] is None:
            os.environ.pop("TMPDIR", None)
        else:
            os.environ["TMPDIR"] = before["TMPDIR"]
        folder.cleanup()

    config.add_cleanup(tidy)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.outcome != "skipped":
        _took_s[report.nodeid] += report.duration


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take note of how much memory a worker has had."""
    node.config.stash[_peaks][node.gateway.id] = getattr(node, "workeroutput", {}).get("peak_mib", 0)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where a process had more memory than `MOST_MIB`; keep how long tests took."""
    gc.unfreeze()
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["peak_mib"] = peak_mib
        return
    cache = getattr(session.config, "cache", None)  # who is told to keep none has none
    if _took_s and cache is not None:
        known = cache.get(DURATIONS, {})
        cache.set(DURATIONS, known | {name: round(took_s, 3) for name, took_s in _took_s.items()})
    peaks = session.config.stash[_peaks]
    peaks["this process"] = peak_mib
    if max(peaks.values()) > MOST_MIB and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say which processes had too much memory."""
    for name, peak_mib in config.stash[_peaks].items():
        if peak_mib > MOST_MIB:
            terminalreporter.write_line(f"{name} had {peak_mib} MiB at once, and {MOST_MIB} are enough", red=True)
