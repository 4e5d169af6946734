"""The whole crawl against random bytes, for a moment; bench/fuzz_crawl.py does it for 20,000 visits."""

import pytest
from bench_commands import bench_command

FUZZ = bench_command("fuzz_crawl")
FRAMES = bench_command("fuzz_frames")  # which imports the other by name


@pytest.mark.parametrize("seed", [11, 12])
def test_nothing_that_a_web_says_raises_and_the_directory_is_sound(seed, tmp_path):
    assert FUZZ.live(seed, 150, tmp_path) > 100


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_that_frames_of_http_2_hold_raises_and_the_directory_is_sound(seed, tmp_path, monkeypatch):
    for most_s in (1.5, 6.0, 20.0):  # on a busy machine, a short life makes few visits
        monkeypatch.setattr(FRAMES, "MOST_S", most_s)
        visits = FRAMES.live(seed, 60, tmp_path / str(most_s))
        if visits > 30:
            break
    assert visits > 30
