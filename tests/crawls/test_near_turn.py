"""robots.txt is asked for when a host's turn is near, not when the host becomes known."""

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
