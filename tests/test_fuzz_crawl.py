"""The whole crawl against random bytes, for a moment; bench/fuzz_crawl.py does it for 20,000 visits."""

import importlib.util
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, BENCH / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


FUZZ = loaded("fuzz_crawl")
FRAMES = loaded("fuzz_frames")  # which imports the other by name


@pytest.mark.parametrize("seed", [11, 12])
def test_nothing_that_a_web_says_raises_and_the_directory_is_sound(seed, tmp_path):
    assert FUZZ.live(seed, 150, tmp_path) > 100


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_that_frames_of_http_2_hold_raises_and_the_directory_is_sound(seed, tmp_path, monkeypatch):
    monkeypatch.setattr(FRAMES, "MOST_S", 1.5)
    assert FRAMES.live(seed, 60, tmp_path / "crawl") > 30
