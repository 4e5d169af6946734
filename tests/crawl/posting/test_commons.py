"""What partitions of a crawl learn in common: sums that are sent whole, and beliefs that come together."""

import math
import random

import numpy as np

from evercrawl.arrays.hasher import Hasher
from evercrawl.change.levels import Levels
from evercrawl.change.prior import SitePriors
from evercrawl.crawl.learn.changes import Changes
from evercrawl.crawl.posting.commons import AGAIN_S, EVERY_S, Commons
from evercrawl.model.notices import AnnouncedDates
from evercrawl.model.rates import deaths_of
from evercrawl.simulate.surroundings.disk import VirtualDisk
from evercrawl.store.post.messages import CommonSums
from evercrawl.store.post.ownership import Share
from evercrawl.store.state import State


class Post:
    """Keeps what is sent."""

    incarnation = 3

    def __init__(self) -> None:
        self.sent = list[CommonSums]()

    def send(self, message: CommonSums) -> None:
        self.sent.append(message)


def common(number: int = 0) -> tuple[Commons, Post, dict[str, float], list[tuple[int, float]]]:
    post, mine, taken = Post(), {"gone": 1.0}, list[tuple[int, float]]()

    def take(sender: int, sums: dict[str, float]) -> None:
        taken.append((sender, sums["gone"]))

    return Commons(Share(number, 4, "c", 1), post, lambda: dict(mine), take), post, mine, taken  # type: ignore[arg-type]


def test_sums_are_sent_when_they_have_moved_and_now_and_then_all_the_same():
    commons, post, mine, _ = common()
    commons.turn(0.0)
    assert [message.to for message in post.sent] == [1, 2, 3]
    mine["gone"] = 1.001
    commons.turn(EVERY_S)
    assert len(post.sent) == 3
    mine["gone"] = 2.0
    commons.turn(EVERY_S + 1)
    assert len(post.sent) == 3
    commons.turn(2 * EVERY_S)
    assert len(post.sent) == 6
    assert post.sent[-1].sums == {"gone": 2.0}
    assert commons.next_at() == 3 * EVERY_S
    commons.turn(2 * EVERY_S + AGAIN_S)
    assert [message.number for message in post.sent[::3]] == [1, 2, 3]


def test_of_each_partition_what_it_said_last_counts_once():
    commons, _, _, taken = common()

    def hear(sender: int, incarnation: int, number: int, gone: float) -> None:
        commons.hear(CommonSums("c", sender, incarnation, 0, number, {"gone": gone}))

    hear(1, 1, 1, 5.0)
    hear(1, 1, 1, 5.0)  # twice
    hear(2, 1, 4, 3.0)
    hear(2, 1, 3, 2.0)  # late
    hear(1, 2, 1, 6.0)  # begun anew
    hear(1, 1, 9, 7.0)
    hear(0, 1, 1, 1.0)  # itself
    hear(9, 1, 1, 1.0)
    assert taken == [(1, 5.0), (2, 3.0), (1, 6.0)]


def test_after_a_restart_what_one_says_anew_does_not_replace_what_the_others_said():
    """They may be away, and count by what they said last."""
    state = State(VirtualDisk(random.Random(1)), 0.0, Hasher(b""))
    changes = Changes(state, AnnouncedDates(state.accounts))
    sums = dict.fromkeys(changes.sums(), 1.0) | {"level2_weight": 0.5, "level2_total": 1.0}
    for sender in (1, 2, 13):
        changes.take(sender, sums | {"gone_pages": float(sender)})
    state.notes.update(changes.notes())
    again = Changes(state, AnnouncedDates(state.accounts))
    assert again.deaths.elsewhere == deaths_of(state).elsewhere == (16.0, 3.0)
    assert again.comebacks.elsewhere == (3.0, 3.0)
    assert again.priors.elsewhere.sums() == {"level2_weight": 1.5, "level2_total": 3.0}
    again.take(2, sums | {"gone_pages": 4.0})
    assert again.deaths.elsewhere == (18.0, 3.0)
    assert again.notes()["elsewhere_13_gone_pages"] == 13.0


def test_two_halves_that_tell_each_other_believe_of_a_new_site_what_the_whole_does():
    draw = np.random.default_rng(1)
    sites, shape, scale_s = (
        draw.integers(0, 40, 2000),
        draw.poisson(0.5, 2000).astype(float),
        draw.exponential(1e6, 2000),
    )
    seen = np.ones(2000, bool)

    def fitted(of: np.ndarray, elsewhere: Levels | None = None) -> SitePriors:
        priors = SitePriors(40)
        priors.elsewhere = elsewhere or Levels()
        priors.fit(sites[of], shape[of], scale_s[of], seen[of], 40)
        return priors

    few = sites < 3
    whole, one, other = fitted(seen), fitted(few), fitted(~few)
    assert abs(math.log(one.crawl_scale_s / whole.crawl_scale_s)) > 0.02
    for _ in range(3):
        one, other = fitted(few, other.votes), fitted(~few, one.votes)
    assert abs(math.log(one.crawl_scale_s / whole.crawl_scale_s)) < 1e-3
    assert abs(math.log(other.crawl_scale_s / whole.crawl_scale_s)) < 1e-3
    assert np.allclose(one.scales_s[:3], whole.scales_s[:3], rtol=1e-2)
