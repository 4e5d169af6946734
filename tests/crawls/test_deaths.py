"""The policy is told how fast pages vanish, by this run and those before."""

import pytest

from evercrawl.progress import Limits
from evercrawl.schedule.price import Price

SITE = "http://a.example"
YEAR_S = 365.25 * 86_400.0


def test_pages_found_gone_are_told_to_the_policy_also_after_a_restart(run):
    world, told = run.World(), []
    world.pages[f"{SITE}/"] = run.html(*(f"/{i}" for i in range(5)))
    began_at = []

    def page(headers, at):  # noqa: ANN202
        began_at.append(at)
        return run.html() if at < began_at[0] + 150 else run.Answer(404, {"content-type": "text/html"}, b"no")

    world.pages |= {f"{SITE}/{i}": page for i in range(5)}
    for seconds in (600, 5):
        policy = Price()
        run(world, [f"{SITE}/"], Limits(seconds=seconds), policy=policy, refresh_after_s=60.0, sitemaps=False)
        told.append(policy.deaths_per_s * YEAR_S)
    assert told == pytest.approx([6.0, 6.0], rel=1e-3)
