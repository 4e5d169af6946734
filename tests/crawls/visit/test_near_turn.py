"""robots.txt is asked for when a host's turn is near, not when the host becomes known."""

from itertools import pairwise

from evercrawl.parse.urls import hostname, path_query
from evercrawl.progress import Limits

SEED = "http://seed.example"
HOSTS = [f"http://h{i}.d{i}.test" for i in range(600)]


def test_robots_txt_is_asked_for_of_hosts_whose_turn_is_near(run):
    world = run.World()
    world.pages[f"{SEED}/"] = world.html(*(f"{home}/" for home in HOSTS))
    for home in HOSTS:
        world.pages[f"{home}/"] = world.html(text=home)
    names = {hostname(f"{home}/"): [f"8.9.{i // 200}.{i % 200}"] for i, home in enumerate([SEED, *HOSTS])}
    ran = run(
        world, [f"{SEED}/"], Limits(seconds=30), names=names, scope="any", connections=8, latency_s=lambda _: 0.2,
        delay_s=0.5, sitemaps=False,
    )  # fmt: skip
    read, most = set[str](), 0
    files = set[str]()
    for asked in ran.network.log:
        (files if path_query(asked.url) == "/robots.txt" else read).add(hostname(asked.url))
        most = max(most, len(files - read))
    assert 300 < len(read) < 600  # of the known ones; the run was too short for all
    assert most <= 100  # who rests after it for 0.5 s, and waits for its turn


def test_large_files_are_read_one_after_another_and_keep_nobody_else_waiting(run):
    """Each takes some tenths of a second of a processor to read; between two, ten times as long is for others."""
    body = "User-agent: *\n" + "Disallow: /no\n" * 20_000  # 280 kB: 2.2 s
    world = run.World()
    large = HOSTS[:20]
    for home in large:
        world.pages[f"{home}/robots.txt"] = world.robots_txt(body)
    for home in [SEED, *large]:
        world.pages[f"{home}/"] = world.html("/no", *(f"/{n}" for n in range(200)), text=home)
        for n in range(200):
            world.pages[f"{home}/{n}"] = world.html(text=f"{home} {n}")
    names = {hostname(f"{home}/"): [f"8.9.0.{i}"] for i, home in enumerate([SEED, *large])}
    ran = run(
        world, [f"{home}/" for home in [SEED, *large]], Limits(seconds=25), names=names, latency_s=lambda _: 0.1,
        delay_s=0.5, sitemaps=False,
    )  # fmt: skip
    first = dict[str, float]()
    for asked in ran.network.log:
        if path_query(asked.url) != "/robots.txt":
            first.setdefault(hostname(asked.url), asked.at)
    began = sorted(at for host, at in first.items() if host != hostname(f"{SEED}/"))
    assert 8 <= len(began) <= 12  # of twenty: the others still wait
    assert min(b - a for a, b in pairwise(began)) > 1.5
    assert sum(url.startswith(SEED) for url in ran.pages) > 35  # as where there is nobody else
    assert not any(url.endswith("/no") and not url.startswith(SEED) for url in ran.pages)
