"""What pages do: groups, samples, and whole reports."""

import math

import numpy as np
import pytest

from evercrawl.errors import ConfigError
from evercrawl.lab.histories import CHANGED, CrawlSeen, load
from evercrawl.lab.histories.evolution import curves
from evercrawl.lab.histories.evolution.groups import grouped
from evercrawl.lab.histories.evolution.lives import DAY_S
from evercrawl.lab.histories.evolution.report import evolution
from evercrawl.lab.histories.evolution.samples import about, of_sites, random_pages

URLS = (
    "http://a.example/", "http://a.example/docs/green_tea.html?x=/1", "https://b.test/x/y/tea.PDF",
    "http://127.0.0.1:8080/x/", "http://[::1]/tea-green/.hidden",
)  # fmt: skip
ROWS = [(0, page, 0, page, page) for page in range(5)] + [(9, 4, 1, 9, 9)]


@pytest.fixture
def crawled(made_up):
    """Return a history as of a crawl of three sites."""
    looks = np.repeat(np.arange(5), 2)
    seen = CrawlSeen(
        np.full(5, 9 * 86_400), np.array([False, True] + [False] * 3), ("text/html", "text/html", "", "", ""),
        ("Home", "", "", "Of tea: green", ""), looks, np.tile([0, 9 * 86_400], 5),
    )  # fmt: skip
    return made_up(ROWS, URLS, sites=("a.example", "b.test", "other"), site=[0, 0, 1, 2, 2], seen=seen)


def test_pages_are_told_apart_by_what_they_have_in_common(crawled):
    def names(by: str) -> list[str]:
        found = grouped([crawled], by)
        return [found.names[i] for i in found.group]

    assert names("tld") == ["example", "example", "test", "-", "-"]
    assert names("site") == ["a.example", "a.example", "b.test", "other", "other"]
    assert names("depth") == ["0", "1", "2", "1", "1"]
    assert names("type") == ["text/html", "text/html", "pdf", "-", "hidden"]


def test_types_without_a_crawl_are_endings(made_up):
    assert grouped([made_up(ROWS[:3], ["a.HTML", "b", "v1.2/c"])], "type").names == ["-", "html"]


def test_all_of_a_small_history_by_hand(made_up):
    """Five pages in two years: two at first, two come, one of each goes; one link comes, and one goes."""
    rows = [
        (0, 0, 0, 0b1111, 1), (0, 1, 0, 7, 1), (100, 2, 0, 7, 1), (200, 3, 0, 7, 1), (300, 0, 1, 0b1000, 2),
        (365.25, 1, 2, 0, 0), (400, 0, 1, 0b1000, 3), (500, 2, 2, 0, 0), (600, 0, 1, 0b1111, 1), (730.5, 0, 1, 0, 5),
    ]  # fmt: skip
    log = [(0, 0, 1, True), (365.25, 0, 1, False), (379.5, 0, 3, True)]
    (found,) = evolution([made_up(rows, links=log)])
    assert (found.pages, found.alive, found.changes, found.days) == (4, 2, 4, 730.5)
    years = 2 + 1 + 400 / 365.25 + 530.5 / 365.25
    assert found.lasting.born_a_year == pytest.approx(2 / years)
    assert found.lasting.died_a_year == pytest.approx(2 / years)
    assert (found.lasting.alive_after_year, found.lasting.half_gone_days) == (1.0, 400.0), "of two that came one goes"
    assert found.often.rate_per_day == pytest.approx(4 / (years * 365.25))
    assert (found.much.bits, found.much.words_kept, found.much.slight, found.much.returned) == (3.0, 0.25, 0.75, 0.25)
    weeks = years * 365.25 / 7
    assert found.links.new_links_a_week == pytest.approx(1 / weeks)
    assert found.links.new_link_share_a_week == pytest.approx(1 / ((365.25 + 351) / 7))
    (late,) = evolution([made_up(rows)], since=150 * DAY_S)
    assert (late.alive, evolution([made_up(rows)], until=450 * DAY_S)[0].alive) == (2, 3)
    assert late.days == 580.5
    assert late.lasting.born_a_year == pytest.approx(365.25 / (580.5 + 215.25 + 350 + 530.5))
    assert late.lasting.half_gone_days == 400.0, "it had been there for 50 days when the time began"


def test_depths_are_in_the_order_of_numbers(made_up):
    paths = ["a/" * depth + "x" for depth in (10, 2, 0)]
    assert grouped([made_up(ROWS[:3], paths)], "depth").names == ["0", "2", "10"]


def test_samples(crawled, made_up):
    other = made_up(ROWS[:2], ["green", "tea/green"], sites=("b.test",))
    both = [crawled, other]
    assert of_sites(both, ["b.test"]).tolist() == [False, False, True, False, False, True, True]
    assert about(both, ["Green tea"]).tolist() == [False, True, False, True, True, False, True]
    assert about(both, ["pdf", "home"]).tolist() == [True, False, True, False, False, False, False]
    assert not about(both, [""]).any()
    with pytest.raises(ConfigError, match=r"there is no site nowhere; the sites are a\.example, b\.test, other"):
        of_sites(both, ["b.test", "nowhere"])


def test_random_pages_are_so_many_and_the_same_for_a_seed(crawled):
    drawn = [random_pages([crawled], 2, seed) for seed in range(40)]
    assert {int(each.sum()) for each in drawn} == {2}
    assert sum(drawn).min() > 5, "each is as likely as any other"
    assert (random_pages([crawled], 2, 7) <= random_pages([crawled], 3, 7)).all()
    among = np.array([False, True, True, False, False])
    assert random_pages([crawled], 9, 1, among).tolist() == among.tolist()


def test_groups_add_up_to_all(crawled):
    found = evolution([crawled, *load("peps")], "site")
    assert [each.group for each in found] == ["a.example", "b.test", "other", "peps", "all"]
    assert sum(each.pages for each in found[:-1]) == found[-1].pages == 743
    assert sum(each.changes for each in found[:-1]) == found[-1].changes == 15_126
    assert found[-1].often.estimator == "changes over time and log-corrected"
    assert found[2].often.rate_per_day == pytest.approx(math.log(3) / 2 / 9), "one of one visits: ln(1.5 / 0.5)"
    alone = evolution(load("peps"))[0].figures()
    assert found[3].figures() == alone, "a group is told as if it were alone"


def test_a_crawl_knows_what_was_born_only_from_new_links(crawled):
    assert [each.lasting.born_a_year for each in evolution([crawled])][:3] == [pytest.approx(365.25 / 18), 0.0, 0.0]


def test_of_pages_seldom_visited_no_week_says_anything(made_up):
    """A change is found in each of two weeks in a row, and again two months later."""
    days = [0, 10, 15, 22, 80, 99]
    rows = [(0, 0, 0), (10, 0, 1, 1, 1), (15, 0, 1, 2, 2), (80, 0, 1, 3, 3)]
    looks = [*days, *range(23, 23 + 24)]
    seen = [
        CrawlSeen(
            np.array([99]) * 86_400, np.zeros(1, bool), ("",), ("",), np.zeros(len(at), int), np.sort(at) * 86_400
        )
        for at in (np.array(days), np.array(looks))
    ]
    seldom, often, all_known = (evolution([made_up(rows, seen=one)])[0].together.weekly_lift for one in (*seen, None))
    assert math.isnan(seldom)
    assert often == pytest.approx(1 / (3 * 2 / 14))
    assert all_known == pytest.approx(1 / (2 * 1 / 11)), "it ends with its last event, in a week that is not whole"


def test_a_sample_is_a_part_and_none_is_an_error(crawled):
    chosen = np.array([True, False, True, False, False])
    assert [each.pages for each in evolution([crawled], chosen=chosen)] == [1, 1, 2]
    with pytest.raises(ConfigError, match="no page is left"):
        evolution([crawled], chosen=~chosen & chosen)
    with pytest.raises(ConfigError, match="no page is left"):
        evolution([crawled], since=99 * DAY_S)


def test_pages_that_change_at_random_moments_show_nothing(made_up):
    """What the report says of real pages it must not say of chance."""
    random, pages, length = np.random.default_rng(5), 400, 1_500.0
    counts = random.poisson(random.gamma(4.0, 6.0, pages))
    page = np.repeat(np.arange(pages), counts)
    day = random.uniform(0.0, length, len(page))
    order = np.argsort(day)
    rows = [(0, i, 0) for i in range(pages)]
    rows += [(d, p, CHANGED, i, i + 1) for i, (d, p) in enumerate(zip(day[order], page[order], strict=True))]
    (found,) = evolution([made_up(rows)])
    assert found.regular.gap_variation == pytest.approx(0.97, abs=0.04)
    assert found.regular.rejected == pytest.approx(0.05, abs=0.03)
    assert found.together.weekly_lift == pytest.approx(1.0, abs=0.08)
    assert abs(found.together.weekly_errors) < 3.0
    assert found.together.in_batches == 0.0
    assert found.often.rate_per_day == pytest.approx(24 / length, rel=0.1)
    assert found.much.returned == 0.0


def test_real_pages_do_not_change_at_random():
    """The two that ship, against what was measured of them by other means."""
    peps, terms = (evolution([history])[0] for history in load("peps", "ota-contrib"))
    assert (peps.together.in_batches, peps.much.words_kept) == (
        pytest.approx(0.2895, abs=5e-4),
        pytest.approx(0.2703, abs=5e-4),
    )
    assert peps.much.returned == pytest.approx(0.0018, abs=1e-4)
    assert (terms.together.busiest_tenth, terms.together.halves) == (
        pytest.approx(0.7324, abs=5e-3), pytest.approx(0.52, abs=0.02)
    )  # fmt: skip
    assert 0.28 < terms.much.returned < 0.30
    for found in (peps, terms):
        assert found.regular.rejected > 0.6
        assert found.regular.gap_variation > 1.3
        assert found.together.weekly_lift > 1.8
        assert found.together.weekly_errors > 43


def test_curves_of_a_figure(made_up, crawled):
    rows = [(0, 0, 0), (365.25, 1, 0), (365.25 * 2, 1, 2), (365.25 * 3, 2, 0)]
    rows += [(365.25 * 3 + day, 0, 1, 2**day - 1, day) for day in range(10)]
    record = evolution([made_up(rows)])[0].record
    assert curves.still_there(record).x == pytest.approx([0.0, 1.0, 1.0])
    assert curves.still_there(record).y.tolist() == [100.0, 0.0, 0.0], "of those that were watched for a year"
    assert curves.smaller_changes(record).y[:3].tolist() == [10.0, 100.0, 100.0]
    found = curves.longer_gaps(record)
    assert (found.y[0], found.y[found.x < 1.0].min(), found.y[found.x > 1.0].max()) == (100.0, 100.0, 0.0)
    assert curves.random_gaps().y[0] == 100.0
    empty = evolution([crawled])[0].record
    assert [len(of(empty).x) for of in (curves.longer_gaps, curves.smaller_changes)] == [0, 0]
