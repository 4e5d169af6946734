"""What partitions of a crawl learn in common: sums that are sent whole, and beliefs that come together."""

import math

import numpy as np

from evercrawl.change.prior import SitePriors
from evercrawl.crawl.posting.commons import AGAIN_S, EVERY_S, Commons
from evercrawl.store.post.messages import CommonSums
from evercrawl.store.post.ownership import Share


class Post:
    """Keeps what is sent."""

    incarnation = 3

    def __init__(self) -> None:
        self.sent = list[CommonSums]()

    def send(self, message: CommonSums) -> None:
        self.sent.append(message)


def common(number: int = 0) -> tuple[Commons, Post, dict[str, float], list[dict[str, float]]]:
    post, mine, taken = Post(), {"gone": 1.0}, list[dict[str, float]]()
    return Commons(Share(number, 4, "c", 1), post, lambda: dict(mine), taken.append), post, mine, taken  # type: ignore[arg-type]


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
    assert taken == [{"gone": 5.0}, {"gone": 8.0}, {"gone": 9.0}]


def test_two_halves_that_tell_each_other_believe_of_a_new_site_what_the_whole_does():
    draw = np.random.default_rng(1)
    sites, shape, scale_s = (
        draw.integers(0, 40, 2000),
        draw.poisson(0.5, 2000).astype(float),
        draw.exponential(1e6, 2000),
    )
    seen = np.ones(2000, bool)

    def fitted(of: np.ndarray, elsewhere: tuple[float, float] = (0.0, 0.0)) -> SitePriors:
        priors = SitePriors(40)
        priors.elsewhere = elsewhere
        priors.fit(sites[of], shape[of], scale_s[of], seen[of], 40)
        return priors

    few = sites < 3
    whole, one, other = fitted(seen), fitted(few), fitted(~few)
    assert abs(math.log(one.crawl_scale_s / whole.crawl_scale_s)) > 0.02
    for _ in range(3):
        one, other = fitted(few, other.sums), fitted(~few, one.sums)
    assert abs(math.log(one.crawl_scale_s / whole.crawl_scale_s)) < 1e-3
    assert abs(math.log(other.crawl_scale_s / whole.crawl_scale_s)) < 1e-3
    assert np.allclose(one.scales_s[:3], whole.scales_s[:3], rtol=1e-2)
