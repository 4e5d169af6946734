"""Boosts: an order has pages visited more often, for as long as it lasts."""

from typing import Any

from evercrawl.config import Config
from evercrawl.model.policy.policies import policy_of
from evercrawl.progress import Limits
from evercrawl.store.orders import CrawlOrder, OrderFile, append, named

A = "http://a.example"
PAGES = [f"{A}/{kind}/{i}" for kind in ("plain", "wanted") for i in range(5)]


def test_boosted_pages_are_visited_more_often_until_the_boost_ends(run):
    world, number = run.World(), [0]

    def changing(headers, at) -> Any:
        number[0] += 1
        return run.html(text=f"words {number[0]} and {number[0] * 7}")

    world.pages[f"{A}/"] = run.html(*PAGES)
    for url in PAGES:
        world.pages[url] = changing
    run.directory.mkdir()
    order = CrawlOrder("boost", pattern="/wanted/", factor=100.0, lasts_s=4000.0)
    append(run.directory, [named(order, 1.0, "ann")])
    ran = run(
        world, [f"{A}/"], Limits(seconds=8000.0), policy=policy_of(Config().policy), orders=OrderFile(run.directory),
        rate_per_s=0.05, refresh_after_s=30.0, probe_share=0.0, sitemaps=False,
    )  # fmt: skip
    began = run.now - 8000.0

    def share(since_s: float, until_s: float) -> float:
        asked = [a.url for a in ran.network.log if since_s <= a.at - began < until_s and a.url in PAGES]
        return sum("/wanted/" in url for url in asked) / len(asked)

    shares = share(1000, 4000), share(5000, 8000)
    assert shares[0] > shares[1] + 0.15, shares
    assert shares[0] > 0.7, shares
