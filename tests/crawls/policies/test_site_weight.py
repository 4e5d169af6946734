"""A crawl that is steered by sites, in the real loop."""

from evercrawl.config import Config
from evercrawl.simulate.living.comparison import BenchWorld
from evercrawl.simulate.living.lives import explore

WORLD = BenchWorld(2, 120, 6.0, 10.0, 10.0)


def test_a_crawl_by_sites_asks_for_other_pages_than_one_by_importance():
    asked = {}
    for weight in ("importance", "site"):
        config = Config(rate_per_s=10.0, delay_s=0.001, refresh_after_s=0.0, weight=weight)
        asked[weight] = [one.url for one in explore(WORLD.web(endless=False), config, 10.0)]
    assert len(asked["site"]) > 50
    assert asked["site"] != asked["importance"]
    assert len(set(asked["site"])) > 30
