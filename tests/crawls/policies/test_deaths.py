"""The policy is told how fast pages vanish and come back, by this run and those before."""

import pytest

from evercrawl.progress import Limits
from evercrawl.schedule import Pages
from evercrawl.schedule.abilities import Assessed
from evercrawl.schedule.base import Context
from evercrawl.schedule.policies.cycle import Cycle
from evercrawl.schedule.policies.price.price import Price
from evercrawl.types import Floats

SITE = "http://a.example"
DAY_S = 86_400.0
YEAR_S = 365.25 * DAY_S


class Informed(Price):
    """Notes how fast pages are said to vanish."""

    told_per_s = 0.0

    def chosen(self, values, context, new=0) -> None:
        self.told_per_s = context.deaths_per_s
        super().chosen(values, context, new)


def watched(kind, told):
    """Return a policy of some kind that notes what it is told of pages found gone."""

    class Watched(kind):
        """Notes the slowest return that is awaited."""

        def value(self, pages: Pages, context: Context) -> Floats:
            told.append(None if pages.comeback_scale_s is None else float(pages.comeback_scale_s.max()))
            return super().value(pages, context)

        def assess(self, pages: Pages, context: Context, valued: int, due_from: int) -> Assessed:
            told.append(None if pages.comeback_scale_s is None else float(pages.comeback_scale_s.max()))
            return super().assess(pages, context, valued, due_from)

    return Watched()


def test_pages_found_gone_are_told_to_the_policy_also_after_a_restart(run):
    world, told = run.World(), []
    world.pages[f"{SITE}/"] = run.html(*(f"/{i}" for i in range(5)))
    began_at = []

    def page(headers, at):  # noqa: ANN202
        began_at.append(at)
        return run.html() if at < began_at[0] + 150 else run.Answer(404, {"content-type": "text/html"}, b"no")

    world.pages |= {f"{SITE}/{i}": page for i in range(5)}
    for seconds in (600, 5):
        policy = Informed()
        run(world, [f"{SITE}/"], Limits(seconds=seconds), policy=policy, refresh_after_s=60.0, sitemaps=False)
        told.append(policy.told_per_s * YEAR_S)
    assert told == pytest.approx([6.0, 6.0], rel=1e-3)


def test_and_how_fast_they_come_back(run):
    """Five are gone, are back two minutes later, and gone again: six returns, one of them assumed, in thirty days."""
    world = run.World()
    world.pages[f"{SITE}/"] = run.html(*(f"/{i}" for i in range(5)))
    began_at = []

    def page(headers, at):  # noqa: ANN202
        began_at.append(at)
        there = not (150 <= at - began_at[0] < 280 or at - began_at[0] >= 420)
        return run.html() if there else run.Answer(404, {"content-type": "text/html"}, b"no")

    world.pages |= {f"{SITE}/{i}": page for i in range(5)}
    for seconds in (700, 300):
        told = []
        run(
            world,
            [f"{SITE}/"],
            Limits(seconds=seconds),
            policy=watched(Price, told),
            refresh_after_s=60.0,
            sitemaps=False,
        )
        assert [each for each in told if each][-1] == pytest.approx(0.5 * 30 * DAY_S / 6, rel=0.01)
    told = []
    run(world, [f"{SITE}/"], Limits(seconds=300), policy=watched(Cycle, told), refresh_after_s=60.0, sitemaps=False)
    assert set(told) == {None}, "a policy that does not reckon with it is not told"
