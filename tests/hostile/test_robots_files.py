"""robots.txt that is made to cost time or memory."""

import time
import tracemalloc

import pytest

from evercrawl.fetch.robots import MAX_ROBOTS_BYTES, Robots
from evercrawl.model.rules import robots as keeping
from evercrawl.model.rules.robots import RobotsKeeper
from evercrawl.types import Exchange

KIB = 1 << 10
FILES = {
    "a group for each line": b"user-agent:a\nallow:/\n",
    "one agent, then one delay, again and again": b"user-agent:*\ncrawl-delay:1\n",
    "patterns of stars": b"disallow:/" + b"*a" * 60 + b"\n",
    "sitemaps": b"sitemap:http://127.0.9.1/\n",
    "colons": b":\n",
    "words": b"allow /\n",
    "empty lines": b"\n",
    "comments": b"#\n",
    "bytes beyond ASCII": b"allow:/\xff\xfe\n",
}
HALVES = {  # what the first half of the file says again and again, and the second
    "agents and delays": (b"user-agent:a\n", b"crawl-delay:1\n"),
    "one agent and rules": (b"user-agent:*\n", b"allow:/a\n"),
}


def filled(first, second=b"", size_bytes=MAX_ROBOTS_BYTES):
    half = size_bytes // 2 if second else size_bytes
    return first * (half // len(first)) + (second * (half // len(second)) if second else b"")


@pytest.mark.parametrize("name", [*FILES, *HALVES])
def test_a_full_file_is_read_in_a_second(name):
    """Agents times delays, and agents times rules, took minutes once."""
    body = filled(*HALVES[name]) if name in HALVES else filled(FILES[name])
    assert len(body) > 500 * KIB
    began = time.process_time()
    robots = Robots(body)
    robots.allowed("evercrawl", "/" + "a" * 8_000)
    robots.crawl_delay_s("evercrawl")
    assert time.process_time() - began < 1.0


def test_a_file_of_nothing_but_wild_patterns_costs_little_a_verdict_and_keeps_us_out():
    robots = Robots(b"user-agent:*\n" + b"".join(b"disallow:/*%05xab\n" % i for i in range(28_000)))
    assert robots.allowed("evercrawl", "/short")  # 28,000 patterns and a usual path: looked at one by one
    began = time.process_time()
    allowed = [robots.allowed("evercrawl", f"/{'0' * 8_000}{i}") for i in range(10)]
    assert time.process_time() - began < 0.5
    assert allowed == [False] * 10
    assert robots.allowed("evercrawl", "/robots.txt")


def test_the_rules_of_many_hosts_take_bounded_memory(monkeypatch, tmp_path):
    monkeypatch.setattr(keeping, "MOST_HELD_BYTES", 100 * KIB)
    keeper = RobotsKeeper(str(tmp_path / "robots.sqlite"), "evercrawl", 30.0)
    body = b"user-agent:*\n" + b"".join(b"disallow:/%x\n" % i for i in range(2_000))  # 26 kB
    tracemalloc.start()
    for host in range(30):
        request = keeper.request(f"http://h{host}.example")
        keeper.learn(Exchange(request, 0.0, status=200, body=body, wire=body), 1000.0)
    held_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held_bytes < 2_000 * KIB  # thirty of them would take 6 MB
    for host in range(30):  # those that made room are still known
        rules = keeper.of(f"http://h{host}.example", 1001.0)
        assert not rules.rules.allowed("/ff")
    keeper.close()
