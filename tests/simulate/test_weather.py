"""Weather over a made-up web, and what its sites say of themselves."""

from collections import Counter
from typing import Any

import pytest

from evercrawl.fetch.robots import Robots
from evercrawl.parse.listings.sitemap import read_sitemap
from evercrawl.simulate.surroundings.clock import VirtualClock, run_virtual
from evercrawl.simulate.surroundings.network import MadeNetwork, NoAnswerError
from evercrawl.simulate.surroundings.rules import ELSEWHERE, ROBOTS, SITEMAP, MadeRules, RobotsAnswer, sitemap
from evercrawl.simulate.surroundings.spells import Spells, lot
from evercrawl.simulate.surroundings.weather import Climate, Weather, WeatherKind
from evercrawl.simulate.worlds.made_web import MadeWeb
from evercrawl.types import Request

BEGAN_AT = 1.7e9
ORIGINS = tuple(f"http://site-{number}.example" for number in range(12))
WEB = MadeWeb(1, ORIGINS)


def weather(seed=1, **settings: Any) -> Weather:
    return Weather(WEB, seed, began_at=BEGAN_AT, **settings)


def outcome(over, origin, path, at):
    try:
        return over.answer(origin, path, {}, at)
    except NoAnswerError as fault:
        return fault.error, fault.after_s


def test_lots_are_spread_evenly():
    lots = [lot(1, number) for number in range(4000)]
    assert 0.0 <= min(lots) < max(lots) < 1.0
    assert abs(sum(lots) / len(lots) - 0.5) < 0.02


def test_spells_follow_each_other_whatever_is_asked():
    def draw(source, before) -> tuple[float, float]:
        return source.random(), source.uniform(1.0, 9.0)

    one, other = Spells("1", BEGAN_AT, draw), Spells("1", BEGAN_AT, draw)
    times = [BEGAN_AT + second for second in range(-5, 500)]
    assert [one.at(at) for at in times] == [other.at(at) for at in reversed(times)][::-1]
    for at in times[5:]:
        assert one.at(at).since <= at < one.at(at).until
        assert one.at(one.at(at).until).number == one.at(at).number + 1
    assert Spells("2", BEGAN_AT, draw).at(BEGAN_AT).what != one.at(BEGAN_AT).what


def test_the_same_seed_makes_the_same_weather_whatever_was_asked_before():
    asked = [(origin, f"/p/{at % 7}", BEGAN_AT + 977.0 * at) for at in range(60) for origin in ORIGINS]
    one, other = weather(), weather()
    assert [outcome(one, *ask) for ask in asked] == [outcome(other, *ask) for ask in reversed(asked)][::-1]
    assert [outcome(weather(2), *ask) for ask in asked] != [outcome(one, *ask) for ask in asked]


def test_what_each_kind_of_weather_does():
    """Every request of ten days, as the network delivers it, by the weather it met."""
    met: dict[WeatherKind, Counter] = {kind: Counter() for kind in WeatherKind}

    async def ask() -> None:
        clock, over = VirtualClock(), weather()
        network = MadeNetwork(over, clock)
        for turn in range(3000):
            origin = ORIGINS[turn % len(ORIGINS)]
            kind = over.sky(origin, clock.now()).what.kind
            network.start(Request(f"{origin}/p/{turn % 30}", deadline_s=30.0))
            (exchange,) = await network.finished(60.0)
            retry = "retry-after" in exchange.headers and exchange.status in (429, 503)
            trouble = exchange.error or ("cut" if exchange.truncated else "") or ("retry" if retry else "")
            met[kind][trouble or str(exchange.status)] += 1
            met[kind]["late"] += exchange.elapsed_s > 5.0
            await clock.sleep(300.0)

    run_virtual(ask())
    assert set(met[WeatherKind.FINE]) == {"200", "late"}
    assert met[WeatherKind.FINE]["late"] == 0
    assert met[WeatherKind.FINE].total() > 1500
    assert met[WeatherKind.SLOW]["late"] > 3
    assert met[WeatherKind.SLOW]["timeout"] > 0
    for kind, trouble in [
        (WeatherKind.RESETTING, "reset"), (WeatherKind.REFUSING, "connect"), (WeatherKind.SILENT, "timeout"),
        (WeatherKind.BUSY, "retry"),
        (WeatherKind.CUTTING, "cut"), (WeatherKind.LYING, "cut"),
    ]:  # fmt: skip
        assert met[kind][trouble] > 10, kind
        assert met[kind]["200"] > 3, kind  # some get through
    assert sum(met[WeatherKind.BROKEN][status] for status in ("500", "502", "503", "504")) > 10


def test_some_ask_to_be_left_alone_until_a_date_by_a_clock_that_is_wrong():
    over, dated, plain = weather(), 0, 0
    for origin in ORIGINS:
        for at in range(int(BEGAN_AT), int(BEGAN_AT) + 10 * 86_400, 600):
            if over.sky(origin, float(at)).what.kind is WeatherKind.BUSY:
                said = over.answer(origin, "/", {}, float(at))
                wish = said.headers.get("Retry-After", "")
                dated, plain = dated + ("GMT" in wish), plain + wish.isdigit()
                assert ("Date" in said.headers) == ("GMT" in wish)
    assert min(dated, plain) > 5


def test_a_climate_without_bad_weather_is_fine():
    names = ["slow", "resetting", "refusing", "silent", "broken", "busy", "cutting", "lying"]
    over = weather(climate=Climate(**dict.fromkeys(names, 0.0)))
    assert {over.sky(ORIGINS[0], BEGAN_AT + 3600.0 * hour).what.kind for hour in range(500)} == {WeatherKind.FINE}


def test_it_clears():
    over = weather(clears_at=BEGAN_AT + 500.0)
    for at in range(500, 500_000, 9999):
        assert over.answer(ORIGINS[1], "/p/1", {}, BEGAN_AT + at).status == 200
    assert {over.sky(origin, BEGAN_AT + 5e6).what.kind for origin in ORIGINS} == {WeatherKind.FINE}
    assert len({weather().sky(origin, BEGAN_AT + 5e6).what.kind for origin in ORIGINS}) > 1


# What sites say of themselves


def rules(**settings: Any) -> MadeRules:
    return MadeRules(1, began_at=BEGAN_AT, prefixes=["/p/1", "/p/2"], always=["/private/"], **settings)


def every(made):
    """Return the robots.txt of every origin, hour by hour, with origin and instant."""
    times = [BEGAN_AT + 3600.0 * hour for hour in range(480)]
    return [(origin, at, made.at(origin, at)) for origin in ORIGINS for at in times]


def test_robots_txt_flaps_between_all_that_it_can_be():
    said = [text for _, _, text in every(rules())]
    assert set(Counter(text.said for text in said)) == set(RobotsAnswer)
    assert len({text.disallowed for text in said}) == 5
    assert {text.delay_s for text in said} == {0.0, 2.0, 5.0}
    assert [text for _, _, text in every(rules())] == said


def test_what_is_served_means_what_it_is_said_to_mean():
    made, origin_rules = rules(), 0
    for origin, at, text in every(made)[::7]:
        if text.said is RobotsAnswer.SILENT:
            with pytest.raises(NoAnswerError):
                made.answer(origin, ROBOTS, at)
            continue
        served = made.answer(origin, ROBOTS, at)
        assert (
            served.status
            == {RobotsAnswer.RULES: 200, RobotsAnswer.MOVED: 301, RobotsAnswer.ABSENT: 404, RobotsAnswer.TROUBLE: 503}[
                text.said
            ]
        )
        if text.said in (RobotsAnswer.RULES, RobotsAnswer.MOVED):
            origin_rules += 1
            robots = Robots(made.answer(origin, ELSEWHERE if text.said is RobotsAnswer.MOVED else ROBOTS, at).body)
            read = robots.rules("evercrawl")
            for path in ("/", "/p/0", "/p/1", "/p/19", "/private/0", ROBOTS):
                assert (read is None or read.allowed(path) or path == ROBOTS) == (text.allows(path) or path == ROBOTS)
            assert (robots.crawl_delay_s("evercrawl") or 0.0) == text.delay_s
    assert origin_rules > 300


def test_when_it_clears_the_mildest_rules_hold():
    made = rules(clears_at=BEGAN_AT)
    assert {text.disallowed for _, _, text in every(made)} == {("/private/",)}
    assert {text.said for _, _, text in every(made)} == {RobotsAnswer.RULES}


def test_weather_serves_the_rules_in_place_of_the_web():
    made = rules(clears_at=BEGAN_AT)
    over = weather(rules=made, clears_at=BEGAN_AT)
    for path in (ROBOTS, ELSEWHERE):
        assert over.answer(ORIGINS[0], path, {}, BEGAN_AT).body == made.answer(ORIGINS[0], path, BEGAN_AT).body
    assert over.answer(ORIGINS[0], "/p/1", {}, BEGAN_AT).status == 200


def test_sitemaps_list_what_there_is_and_are_broken_now_and_then():
    whole, listed = 0, [("http://site-0.example/p/1?a=1&b=2", BEGAN_AT), ("http://site-0.example/p/2", BEGAN_AT + 60.0)]
    made = rules(listed=lambda origin, at: listed)
    said = Counter(made.answer(ORIGINS[0], SITEMAP, BEGAN_AT + 3600.0 * hour).status for hour in range(500))
    assert min(said[200], said[404]) > 10
    assert rules().answer(ORIGINS[0], SITEMAP, BEGAN_AT) is None
    assert any(text.sitemap for _, _, text in every(made))
    assert not any(text.sitemap for _, _, text in every(rules()))
    assert b"a=1&amp;b=2</loc><lastmod>2023-11-14T22:13:20+00:00<" in sitemap(listed)
    for hour in range(500):
        served = made.answer(ORIGINS[0], SITEMAP, BEGAN_AT + 3600.0 * hour)
        read = read_sitemap(served.body, f"{ORIGINS[0]}{SITEMAP}", served.headers["Content-Type"])
        if served.status == 200 and not read.trouble:
            whole += [entry.url for entry in read.pages] == [url for url, _ in listed]
    assert whole > 300
