"""The robots.txt files of a crawl on the disk: bounded in all and by site, and what memory has of them."""

import sqlite3

import pytest

from evercrawl.fetch.robots import MAX_ROBOTS_BYTES
from evercrawl.model.rules.robots import HELD_S, OriginRules, RobotsKeeper
from evercrawl.model.rules.robots_file import CLOSED, RobotsFile, RobotsRow, stored, unreachable
from evercrawl.types import Exchange

MIB = 1 << 20


@pytest.fixture
def path(tmp_path):
    return tmp_path / "robots.sqlite"


def put(file: RobotsFile, origin: str, size: int = 1000, expires_at: float = 1e9) -> None:
    file.put(origin, RobotsRow("parse", b"#" * size, expires_at))


def test_it_has_no_more_than_its_bound_on_the_disk_too(path):
    file = RobotsFile(str(path), 4 * MIB)
    for number in range(400):
        put(file, f"http://h{number}.d{number}.test", 100_000, 1e9 + number)
        assert file.size_bytes <= 4 * MIB
    assert file.size_bytes > 3 * MIB
    file.close()
    assert path.stat().st_size < 6 * MIB
    again = RobotsFile(str(path), 4 * MIB)
    assert again.size_bytes == file.size_bytes
    again.close()
    smaller = RobotsFile(str(path), 2 * MIB)  # the setting was lowered meanwhile
    assert smaller.size_bytes <= 2 * MIB
    smaller.close()


def test_those_that_expire_first_make_room(path):
    file = RobotsFile(str(path), 2 * MIB)
    for number in range(30):
        put(file, f"http://h{number}.d{number}.test", 100_000, 1e9 - number)
    kept = [number for number in range(30) if file.get(f"http://h{number}.d{number}.test") is not None]
    assert 15 < len(kept) < 21
    assert kept[:-1] == list(range(len(kept) - 1))  # and the newest, which there was just room for
    file.close()


def test_no_site_keeps_out_others(path):
    """Names of a domain, and addresses of a network, are one site."""
    file = RobotsFile(str(path), 8 * MIB)
    put(file, "http://honest.example")
    for number in range(60):
        put(file, f"http://h{number}.evil.test", 100_000, 2e9)
        put(file, f"http://192.0.2.{number}", 100_000, 2e9)
    for of in ("h{}.evil.test", "192.0.2.{}"):
        kept = sum(file.get(f"http://{of.format(number)}") is not None for number in range(60))
        assert 0.8 * MIB < kept * 100_000 <= 2 * MAX_ROBOTS_BYTES
    assert file.get("http://honest.example") is not None
    file.close()


def test_a_file_that_is_learned_anew_counts_once(path):
    file = RobotsFile(str(path), 2 * MIB)
    for _ in range(50):
        put(file, "http://a.example", 100_000)
        put(file, "http://b.example", 1_000)
    assert file.size_bytes < 103_000
    file.close()


def test_a_file_of_the_first_version_is_completed(path):
    older = sqlite3.connect(path, isolation_level=None)
    older.execute(
        "CREATE TABLE robots (origin TEXT PRIMARY KEY, verdict TEXT NOT NULL, body BLOB NOT NULL, "
        "expires_at REAL NOT NULL) WITHOUT ROWID"
    )
    older.execute("INSERT INTO robots VALUES ('http://a.example', 'parse', ?, 1e9)", (b"User-agent: *\nDisallow: /no",))
    older.execute("INSERT INTO robots VALUES ('http://b.example', 'disallow_all', ?, 1e9)", (b"timeout",))
    older.close()
    keeper = RobotsKeeper(str(path), "evercrawl", 30.0, 2 * MIB)
    rules = keeper.of("http://a.example", 1e9 - 1)
    assert not rules.rules.allowed("/no/1")
    assert keeper.of("http://b.example", 0.0) is None  # a start asks again
    keeper.close()
    assert unreachable(path) == {"http://b.example": "timeout"}
    body, until = stored(path, "http://a.example")
    assert (body, until) == (b"User-agent: *\nDisallow: /no", 1e9)
    again = RobotsFile(str(path), 2 * MIB)
    assert again.size_bytes == len(body) + len("timeout") + 2 * 2 * (len("http://a.example") + 200)
    again.close()


def test_a_site_that_is_closed_stays_so_when_memory_forgets_it(path):
    """Else it would be asked again at once, and how long it is left alone would not grow."""
    keeper = RobotsKeeper(str(path), "evercrawl", 30.0)

    def fails(now: float) -> OriginRules:
        return keeper.learn(Exchange(keeper.request("http://a.example"), now, status=503), now)

    first = fails(1e6)
    keeper.learn(Exchange(keeper.request("http://b.example"), 1e6, status=404), 1e6 + HELD_S + 1)
    assert keeper.held == 1
    again = keeper.of("http://a.example", first.expires_at - 1)
    assert (again.open, again.reason, again.failures) == (False, "status: 503", 1)
    assert keeper.of("http://a.example", first.expires_at) is None
    keeper.learn(Exchange(keeper.request("http://b.example"), 1e6, status=404), 1e6 + 3 * HELD_S)
    second = fails(1e6 + 3 * HELD_S)
    assert second.expires_at - (1e6 + 3 * HELD_S) == 2 * (first.expires_at - 1e6)
    keeper.close()


def test_memory_has_the_rules_of_active_hosts_alone(path):
    keeper = RobotsKeeper(str(path), "evercrawl", 30.0)
    for number in range(2_000):
        keeper.learn(Exchange(keeper.request(f"http://h{number}.test"), 0.0, status=404), 1000.0 + number)
        keeper.of("http://h0.test", 1000.0 + number)
    assert keeper.held <= HELD_S + 2
    assert keeper.of("http://h1.test", 3000.0).open  # known all the same
    keeper.close()


def test_a_closed_site_of_another_run_is_asked_again(path):
    first = RobotsFile(str(path))
    first.put("http://a.example", RobotsRow(CLOSED, b"timeout", 1e9, 3))
    assert first.get("http://a.example").failures == 3
    first.close()
    second = RobotsFile(str(path))
    assert second.get("http://a.example") is None
    second.close()
