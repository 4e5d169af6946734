"""What is known of robots.txt, how long it holds, and what survives a restart."""

import sqlite3

import pytest

from evercrawl.fetch.robots import MAX_ROBOTS_BYTES
from evercrawl.model.rules.robots import MOST_DELAY_S, RobotsKeeper, RobotsTag
from evercrawl.types import Exchange

ORIGIN = "http://a.example"
DAY = 86_400.0
RULES = b"User-agent: evercrawl\nDisallow: /no\nCrawl-delay: 3\n\nUser-agent: *\nDisallow: /\n\nSitemap: http://a.example/s.xml\n"


@pytest.fixture
def keeper():
    made = RobotsKeeper(":memory:", "evercrawl", 30.0)
    yield made
    made.close()


def answer(keeper, status=200, body=RULES, headers=None, hops=0, **more: object):
    request = keeper.request(ORIGIN, f"{ORIGIN}/robots.txt", hops)
    return Exchange(request, 0.0, status=status, body=body, wire=body, headers=headers or {}, **more)


def test_nothing_is_known_before_it_was_asked_for(keeper):
    assert keeper.of(ORIGIN, 0.0) is None
    request = keeper.request("https://a.example:8443")
    assert request.url == "https://a.example:8443/robots.txt"
    assert request.tag == RobotsTag("https://a.example:8443")
    assert request.max_body_bytes == MAX_ROBOTS_BYTES >= 500 * 1024
    assert request.deadline_s == 30.0


def test_rules_for_our_token(keeper):
    rules = keeper.learn(answer(keeper), 1000.0)
    assert rules is keeper.of(ORIGIN, 1001.0)
    assert not rules.rules.allowed("/no/x")
    assert rules.rules.allowed("/yes")
    assert (rules.open, rules.delay_s, rules.sitemaps) == (True, 3.0, ("http://a.example/s.xml",))
    assert keeper.of("http://b.example", 1001.0) is None
    assert keeper.of("https://a.example", 1001.0) is None  # another origin


def test_a_group_for_everybody_holds_for_us(keeper):
    assert not keeper.learn(answer(keeper, body=b"User-agent: *\nDisallow: /"), 0.0).rules.allowed("/")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_no_file_opens_everything(keeper, status):
    rules = keeper.learn(answer(keeper, status, b"Disallow: /"), 0.0)
    assert rules.open
    assert rules.rules is None or rules.rules.allowed("/no")
    assert rules.expires_at == DAY


@pytest.mark.parametrize(("status", "error"), [(500, ""), (503, ""), (429, ""), (0, "timeout"), (0, "dns"), (0, "tls"),
                                               (200, "coding")])  # fmt: skip
def test_trouble_closes_everything_for_a_while_twice_as_long_each_time(keeper, status, error):
    now, waits = 0.0, []
    for _ in range(9):
        rules = keeper.learn(answer(keeper, status, b"", error=error), now)
        assert not rules.open
        waits.append(rules.expires_at - now)
        assert keeper.of(ORIGIN, rules.expires_at - 1) is rules
        assert keeper.of(ORIGIN, rules.expires_at) is None
        now = rules.expires_at
    assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
    assert keeper.learn(answer(keeper), now).failures == 0


def test_a_body_that_was_cut_is_trouble_unless_we_cut_it(keeper):
    assert not keeper.learn(answer(keeper, truncated=True), 0.0).open
    large = RULES + b"#" * MAX_ROBOTS_BYTES
    rules = keeper.learn(answer(keeper, body=large[:MAX_ROBOTS_BYTES], truncated=True), 0.0)
    assert rules.open
    assert not rules.rules.allowed("/no")


@pytest.mark.parametrize(
    ("cache_control", "fresh"),
    [("", DAY), ("max-age=600", 600), ("max-age=1", 60), ("max-age=99999999", DAY), ("no-store", 60), ("private", DAY)],
)
def test_rules_hold_for_a_day_at_most(keeper, cache_control, fresh):
    keeper.learn(answer(keeper, headers={"cache-control": cache_control}), 1000.0)
    assert keeper.of(ORIGIN, 1000.0 + fresh - 1) is not None
    assert keeper.of(ORIGIN, 1000.0 + fresh) is None


@pytest.mark.parametrize(("asked", "kept"), [(b"0", 0.0), (b"2.5", 2.5), (b"86400", MOST_DELAY_S), (b"x", None)])
def test_crawl_delay_within_reason(keeper, asked, kept):
    assert keeper.learn(answer(keeper, body=b"User-agent: *\nCrawl-delay: " + asked), 0.0).delay_s == kept


# Redirects


def test_redirects_are_followed_five_times_and_keep_the_origin(keeper):
    exchange = answer(keeper, 301, b"", {"location": "http://b.example/r"})
    for hop in range(1, 6):
        request = keeper.moved(exchange)
        assert request.tag == RobotsTag(ORIGIN, hop)
        assert request.url == "http://b.example/r"
        exchange = Exchange(request, 0.0, status=302, headers={"location": "http://b.example/r"})
    assert keeper.moved(exchange) is None
    assert keeper.learn(exchange, 0.0).open  # as RFC 9309 lets us


@pytest.mark.parametrize(
    ("status", "location"), [(200, "/r"), (300, "/r"), (304, "/r"), (404, "/r"), (302, "mailto:a@b"), (302, "http://[")]
)
def test_what_is_no_redirect(keeper, status, location):
    assert keeper.moved(answer(keeper, status, b"", {"location": location})) is None


def test_a_redirect_that_says_not_where_is_none(keeper):
    assert keeper.moved(answer(keeper, 302, b"")) is None


# Across a restart


def test_rules_survive_a_restart_until_they_expire(tmp_path):
    path = str(tmp_path / "robots.sqlite")
    first = RobotsKeeper(path, "evercrawl", 30.0)
    first.learn(answer(first), 1000.0)
    first.close()
    second = RobotsKeeper(path, "evercrawl", 30.0)
    rules = second.of(ORIGIN, 1000.0 + DAY - 1)
    assert (rules.delay_s, rules.rules.allowed("/no")) == (3.0, False)
    assert second.of(ORIGIN, 1000.0 + DAY) is None
    second.close()


def test_rules_from_the_future_are_asked_for_again(tmp_path):
    path = str(tmp_path / "robots.sqlite")
    first = RobotsKeeper(path, "evercrawl", 30.0)
    first.learn(answer(first), 1000.0 + 9 * DAY)
    first.close()
    second = RobotsKeeper(path, "evercrawl", 30.0)
    assert second.of(ORIGIN, 1000.0) is None  # the clock was set back by nine days: they would hold for ten
    assert second.of(ORIGIN, 1000.0 + 9 * DAY) is None  # nor are they valid again later, if no others could be had
    second.learn(answer(second), 1000.0)
    assert second.of(ORIGIN, 1001.0) is not None
    second.close()


def test_a_closed_site_is_asked_again_after_a_restart(tmp_path):
    path = str(tmp_path / "robots.sqlite")
    first = RobotsKeeper(path, "evercrawl", 30.0)
    first.learn(answer(first, 500), 1000.0)
    first.close()
    second = RobotsKeeper(path, "evercrawl", 30.0)
    assert second.of(ORIGIN, 1001.0) is None
    second.close()


def test_under_another_name_the_same_file_says_something_else(tmp_path):
    path = str(tmp_path / "robots.sqlite")
    first = RobotsKeeper(path, "evercrawl", 30.0)
    first.learn(answer(first), 1000.0)
    first.close()
    other = RobotsKeeper(path, "otherbot", 30.0)
    assert not other.of(ORIGIN, 1001.0).rules.allowed("/yes")
    other.close()


@pytest.mark.parametrize("damage", [b"", b"not a database, but long enough to look at" * 100])
def test_a_damaged_cache_is_begun_anew(tmp_path, damage):
    path = tmp_path / "robots.sqlite"
    path.write_bytes(damage)
    keeper = RobotsKeeper(str(path), "evercrawl", 30.0)
    assert keeper.of(ORIGIN, 0.0) is None
    keeper.learn(answer(keeper), 1000.0)
    keeper.close()
    again = RobotsKeeper(str(path), "evercrawl", 30.0)
    assert again.of(ORIGIN, 1001.0) is not None
    again.close()


def test_a_cache_that_cannot_be_written_costs_nothing_but_the_cache(tmp_path):
    path = tmp_path / "robots.sqlite"
    keeper = RobotsKeeper(str(path), "evercrawl", 30.0)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("DROP TABLE robots")
    keeper.learn(answer(keeper), 1000.0)
    assert keeper.of(ORIGIN, 1001.0) is not None
    assert keeper.of("http://b.example", 1001.0) is None
    other.close()
    keeper.close()
