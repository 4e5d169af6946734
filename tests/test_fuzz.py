"""Readers of foreign bytes and files of a crawl directory, fuzzed for a moment; bench/fuzz.py does it for hours."""

import importlib.util
import itertools
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from evercrawl.kernels import Library, pointer

BENCH = Path(__file__).parents[1] / "bench"


def loaded(name="fuzz"):
    spec = importlib.util.spec_from_file_location(name if name != "fuzz" else "bench_fuzz", BENCH / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


GUARDED = loaded("guarded")  # which the other imports by name
FUZZ = loaded()
FILES = (
    "blocks", "names.cache",
    "archive.cdxj", "archive.gz", "archive.json", "crawl-copy.json", "crawl.json", "crawl.key", "crawl.toml", "journal",
    "known.bin", "learned", "lessons", "policy.json", "robots.sqlite", "sitemaps.sqlite", "snapshot", "soft404.sqlite",
    "urls.idx", "urls.log",
)  # fmt: skip


@pytest.mark.parametrize("name", sorted(FUZZ.READERS))
def test_a_reader_of_foreign_bytes_returns_or_raises_what_it_says(name):
    target = FUZZ.READERS[name]
    for data in itertools.islice(FUZZ.cases(name, target, seed=1), 50 if name == "kernels" else 250):
        assert FUZZ.attempt(target, data) == "", data[:200]


@pytest.mark.parametrize("kind", FILES)
def test_a_damaged_file_is_told_in_a_sentence(kind):
    name = f"file-{kind}"
    target = FUZZ.of_file(FUZZ.files()[kind])
    for data in itertools.islice(FUZZ.cases(name, target, seed=1), len(FUZZ.kept(name)) + 3):
        assert FUZZ.attempt(target, data) == "", data[:200]


def test_every_file_of_a_crawl_is_a_target():
    assert set(FILES) <= set(FUZZ.files()) <= {*FILES, "memory.json"}


@pytest.mark.parametrize(("at_end", "first"), [(True, 0), (False, -1)])
@pytest.mark.parametrize("beyond", [0, 1])
def test_a_kernel_that_reaches_a_byte_outside_its_memory_is_killed(at_end, first, beyond):
    decode, data = Library("evercrawl.store.journal._codec_kernels")["decode"], bytes(range(10))

    def run(memory) -> None:
        at = memory.held(data) + (first if beyond else 0)
        decode(at, len(data) + beyond, pointer(memory.empty(len(data) + 1, np.uint32)))

    if not beyond:
        GUARDED.apart(run, at_end=at_end)
        return
    with pytest.raises(AssertionError, match="reached outside its memory: SIGSEGV"):
        GUARDED.apart(run, at_end=at_end)


def test_so_is_one_that_writes_outside_it():
    def run(memory) -> None:
        decode = Library("evercrawl.store.journal._codec_kernels")["decode"]
        decode(memory.held(bytes(range(10))), 10, pointer(memory.empty(9, np.uint32)))

    with pytest.raises(AssertionError, match="reached outside its memory: SIGSEGV"):
        GUARDED.apart(run, at_end=True)


def test_what_breaks_a_reader_is_found_and_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(FUZZ, "KEPT", tmp_path)

    def run(data: bytes) -> None:
        assert b"99" not in data

    target = FUZZ.Target(run, [b"1 2 3"], [b"99"])
    found = FUZZ.fuzz("made", target, 1, 30.0)
    assert "AssertionError" in found["wrong"]
    assert FUZZ.kept("made") == [Path(found["kept"]).read_bytes()]
    assert FUZZ.fuzz("made", target, 2, 30.0)["cases"] == 1
    assert FUZZ.mutated(random.Random(1), target) == FUZZ.mutated(random.Random(1), target)
