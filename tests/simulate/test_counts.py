"""Counts of large crawls: what is known exactly comes out exactly, and what was measured comes out about so."""

import math
from dataclasses import replace

import numpy as np
import pytest

from evercrawl.simulate.parted.counts import ScaleItems, counted, elsewhere


def test_rows_for_others_are_as_pages_that_are_linked_at_random_have_them():
    """Pages of a drawn web with links to any page, in eight partitions: counted, not calculated."""
    draw, pages, parts, mean = np.random.default_rng(1), 20_000, 8, 3.0
    links = draw.poisson(mean, pages)
    seen = [set(draw.integers(0, parts, count).tolist()) - {number % parts} for number, count in enumerate(links)]
    rows = sum(map(len, seen)) / pages
    assert elsewhere(mean, parts, math.inf) == pytest.approx(rows, rel=0.02)
    assert elsewhere(mean, parts, 2.1) < 0.6 * rows, "where few pages have most of the links, fewer are known elsewhere"


def test_more_partitions_hold_less_each_and_more_in_all():
    few, many = counted(1e8, 4), counted(1e8, 64)
    assert many.largest < few.largest / 8
    assert many.memory_bytes > few.memory_bytes
    assert many.letters_per_s > few.letters_per_s
    assert many.shares.equal < few.shares.equal < 1.0
    assert many.shares.equal < many.shares.by_price <= 1.0 + 1e-9
    assert many == counted(1e8, 64)
    assert many != counted(1e8, 64, seed=2)


def test_a_giant_site_makes_its_partition_the_largest():
    found = counted(1e6, 16, items=replace(ScaleItems(), size_exponent=1.5))
    assert found.largest_site > 0.3 * found.known
    assert found.largest > found.largest_site
    even = counted(1e6, 16, items=replace(ScaleItems(), size_exponent=0.0))
    assert even.largest < 1.15 * even.known / 16


def test_limits_are_passed_one_after_the_other():
    names = []
    for known in (1e8, 1e12):
        found = counted(known, 64)
        names.append({name for name, used in found.limits.items() if used > 1})
        assert found.nearest[1] == max(found.limits.values())
    assert names[0] == set()
    assert "rows of one table of URLs" in names[1]
    assert any("start" in name for name in names[1])
