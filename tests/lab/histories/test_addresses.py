"""Samples by random addresses: each as likely as any other, whatever pages it has."""

import pytest

from evercrawl.errors import ConfigError
from evercrawl.lab.histories.evolution.samples import on_addresses


def test_every_address_is_as_likely():
    pages = ["192.0.2.1"] * 50 + ["192.0.2.2", "192.0.2.3", ""]
    drawn = [on_addresses(pages, 1, seed) for seed in range(60)]
    assert not any(each[-1] for each in drawn)
    large = sum(bool(each[0]) for each in drawn)
    assert 10 < large < 30
    assert all(each.sum() in (1, 50) for each in drawn)
    assert (on_addresses(pages, 2, 5) >= on_addresses(pages, 1, 5)).all()
    with pytest.raises(ConfigError, match="no address is known"):
        on_addresses(["", ""], 1, 1)
