"""Worlds whose partitions are backed up while they run: copies of different times are cut to fit together."""

import pytest

from evercrawl.simulate.parted import parted
from evercrawl.simulate.parted.mail import Roads
from evercrawl.simulate.parted.parted import simulate_parted
from evercrawl.simulate.parted.plan import BACKUP, Blow, PartedWorld, drawn_backed_up

WORLD = PartedWorld(
    6, 4, sites=9, pages=5, addresses=4, roads=Roads(0.1, 0.1, 0.2), lasts_s=40.0, snapshot_every_s=3.0, delay_s=0.5,
    blows=(*(Blow(at, BACKUP, 0, 6.0) for at in (6.0, 14.0, 22.0)), Blow(16.0, "kill", 1, 1.0)),
)  # fmt: skip


def test_copies_of_different_times_fit_together_and_have_all_that_counted_before():
    result = simulate_parted(WORLD)
    assert result.wrong == []
    assert result.blows[BACKUP] == 3
    assert result.cut > 0


def test_what_is_not_cut_is_seen(monkeypatch):
    monkeypatch.setattr(parted, "consistent", lambda accounts: [account.end for account in accounts])
    assert any("(in a backup) " in sentence for sentence in simulate_parted(WORLD).wrong)


@pytest.mark.parametrize("seed", [2, 5])
def test_backups_fit_together_in_worlds_drawn_from_a_seed(seed):
    result = simulate_parted(drawn_backed_up(seed))
    assert result.wrong == []
    assert result.blows[BACKUP] == 4
