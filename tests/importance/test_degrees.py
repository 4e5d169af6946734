"""Degrees that too many pages of a site share, among made-up sites."""

import numpy as np
import pytest

from evercrawl.importance.sites.degrees import spikes


def web(pages: int = 300, out: int = 12, into: int = 3, noise: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return 800 pages of four honest sites, and then those of site 4, `noise` of which are like others."""
    draw = np.random.default_rng(2)
    honest = draw.zipf(1.6, (2, 800 + noise)).clip(1, 200)
    alike = np.tile([[out], [into]], pages)
    site = np.concatenate([np.repeat(np.arange(4), 200), np.full(noise + pages, 4)])
    return site, *np.concatenate([honest, alike], axis=1)


def test_a_site_turned_out_by_a_program_is_named():
    (one,) = spikes(*web(noise=20))
    assert (one.site, one.out, one.into, one.pages) == (4, 12, 3, 300)
    assert one.part == pytest.approx(300 / 320)
    assert one.usual < 30


@pytest.mark.parametrize(
    "other",
    [
        {"pages": 150},  # too few
        {"noise": 100},  # a template of many
        {"out": 4},  # to the next, the last, the first, and home
        {"into": 200},  # a menu
        {"out": 1, "into": 1},
    ],
)
def test_others_are_not(other):
    assert spikes(*web(**other)) == []


def test_what_is_usual_in_the_crawl_is_none():
    site, out, into = web()
    more = np.repeat(np.arange(5, 9), 250)
    out, into = np.concatenate([out, np.full(1000, 13)]), np.concatenate([into, np.arange(1000) % 90])
    assert spikes(np.concatenate([site, more]), out, into) == []


def test_a_crawl_without_pages_has_none():
    none = np.zeros(0, np.int64)
    assert spikes(none, none, none) == []
