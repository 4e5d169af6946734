"""What stays of changes is known after a kill as it was before, by the journal alone or with a snapshot, and heeded."""

import asyncio
from contextlib import closing

import numpy as np
import pytest

from evercrawl.model.worth.lasting_weight import counted, parts
from evercrawl.progress import Limits
from evercrawl.schedule.policies.price_gamma import PriceGamma
from evercrawl.store.records.lasting import judged

HOST = "http://a.example"
FLICKERS, STAYS = f"{HOST}/flickers", f"{HOST}/stays"
SLOT = 1
"""Of the page that flickers: slots are in the order of discovery."""
BEFORE_S, AFTER_S = 1000.0, 500.0
EVERY_S = 60.0
STATE_S = 200.0  # how long what came stays on the other page: for some visits


def words(about: str) -> str:
    draw = np.random.default_rng([ord(each) for each in about])
    return " ".join(f"w{number}" for number in draw.integers(0, 10**9, 200).tolist())


@pytest.fixture
def world(run):
    """One page that is another at each look, and one that is replaced now and then."""
    made = run.World()
    made.pages[f"{HOST}/"] = run.html("/flickers", "/stays")
    made.pages[FLICKERS] = lambda headers, at: run.html(text=words(f"look {at}"))
    made.pages[STAYS] = lambda headers, at: run.html(text=words(f"state {int(at / STATE_S)}"))
    return made


class Watching(PriceGamma):
    """Notes how many times its importance the page that flickers is worth, each time that it is looked at."""

    def __init__(self, told: list[float]) -> None:
        super().__init__()
        self._weighed = told

    def _assess(self, pages, context, valued, due_from, *, fresh=False):  # noqa: ANN202
        if pages.weight_ratio is not None:
            self._weighed += pages.weight_ratio[(pages.slot == SLOT) & ~np.isnan(pages.visited_at)].tolist()
        return super()._assess(pages, context, valued, due_from, fresh=fresh)


def crawl(run, world, seconds, told, *, killed=False, every_s=1e6):
    """Crawl for some seconds, and end by the limit or by a kill."""
    begun_at = run.now

    async def kill() -> None:
        await asyncio.sleep(seconds)
        raise run.Crash

    limits = Limits(seconds=seconds + 100 * killed)
    settings = {"refresh_after_s": EVERY_S, "sitemaps": False, "probe_share": 0.0, "lasting": True}
    try:
        run(
            world, [f"{HOST}/"], limits, policy=Watching(told), snapshot_every_s=every_s,
            during=lambda _: kill() if killed else None, **settings,
        )  # fmt: skip
    except run.Crash:
        run.now = begun_at + seconds


def kept(partition):
    """Return what is kept of the two pages, and which part of each a change replaces for good."""
    state = partition.state
    slots = state.find([FLICKERS, STAYS])
    assert slots[0] == SLOT
    rows = state.records.rows[state.table.record.take(slots)]
    return rows["lasting"].tolist(), rows["earlier"].tolist(), parts(state, slots)


@pytest.mark.parametrize("every_s", [150.0, 1e6])
def test_it_survives_a_kill_by_the_journal_alone_or_with_a_snapshot(run, world, every_s):
    told = list[float]()
    crawl(run, world, BEFORE_S, told, killed=True, every_s=every_s)
    assert bool(list(run.directory.glob("**/*snapshot*"))) == (every_s < BEFORE_S)
    run.same()
    with closing(run.folded()) as folded, closing(run.restored()) as restored:
        means, earlier, lasts = kept(restored)
        assert (means, earlier) == kept(folded)[:2]
    assert min(judged(each) for each in means) >= 3
    assert earlier[0], "the last change of what flickers has yet to be judged"
    assert lasts[0] < 0.5 < lasts[1]
    assert told[0] == 1.0, "nothing was known"
    assert told[-1] < 1.0
    again = list[float]()
    crawl(run, world, AFTER_S, again)
    assert again[0] == pytest.approx(counted(lasts)[0])
    assert again[0] < 1.0, "it is worth as little as before the kill"
    with closing(run.folded()) as folded:
        assert kept(folded)[0][0] < means[0], "and what comes after is learned"
    run.same()
