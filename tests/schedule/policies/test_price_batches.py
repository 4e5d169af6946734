"""What the clocks of folders are worth: much where folders change together, and nothing lost where nobody does."""

import numpy as np
import pytest

from evercrawl.lab.backtest.replay import replay
from evercrawl.lab.backtest.setting import ReplaySetting
from evercrawl.lab.histories import APPEARED, CHANGED, History, LinkLog
from evercrawl.lab.polling.polling import Conditions, poll
from evercrawl.lab.polling.population import population
from evercrawl.schedule.policies.price.price import Price
from evercrawl.schedule.policies.price_gamma import PriceGamma

DAY_S = 86_400
FOLDERS, EACH, DAYS = 8, 30, 700


def batchy(seed):
    """A site whose folders change as one every two months, nine pages in ten, and whose pages hardly change alone."""
    draw = np.random.default_rng(seed)
    pages = np.arange(FOLDERS * EACH)
    at, page = [np.zeros(len(pages))], [pages]
    for folder in range(FOLDERS):
        for day in draw.uniform(0, DAYS, draw.poisson(DAYS / 60)):
            joined = pages[(pages // EACH == folder) & (draw.random(len(pages)) < 0.9)]
            at.append(day + draw.uniform(0, 0.01, len(joined)))
            page.append(joined)
    alone = draw.integers(0, len(pages), DAYS // 4)
    at.append(draw.uniform(0, DAYS, len(alone)))
    page.append(alone)
    at, page = np.concatenate(at), np.concatenate(page)
    order = np.argsort(at, kind="stable")
    at, page, n = (at[order] * DAY_S).astype(np.int64), page[order], len(at)
    op = np.where(np.arange(n) < len(pages), APPEARED, CHANGED).astype(np.int8)
    size, content = np.full(n, 10), np.arange(n, dtype=np.uint64)
    links = LinkLog(*(np.zeros(0, kind) for kind in (np.int64, np.int64, np.int64, np.bool_)))
    paths = tuple(f"{k // EACH}/{k}" for k in pages.tolist())
    return History(
        "batchy", at, page, op, size, size, content, content, paths, np.zeros(len(pages), np.int64), ("a",), links
    )


@pytest.mark.parametrize("validators", [True, False])
def test_on_a_site_that_changes_in_batches_price_keeps_more_fresh(validators):
    setting = ReplaySetting(0.03, validators=validators, since=0.0)
    fresh = {
        policy: np.mean([replay(batchy(seed), policy, setting).freshness for seed in (1, 2)])
        for policy in ("price", "price_gamma", "uniform")
    }
    assert fresh["price"] > fresh["price_gamma"] + 0.05
    assert fresh["price"] > fresh["uniform"] + 0.05


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_where_pages_change_alone_price_loses_no_more_than_a_point(correlation):
    pages, conditions = population(500, 1, correlation), Conditions(ticks=50)
    fresh = [
        poll(kind(), pages, 0.1, cycles=12, measured_from=6, conditions=conditions).value
        for kind in (Price, PriceGamma)
    ]
    assert fresh[0] > fresh[1] - 0.012
