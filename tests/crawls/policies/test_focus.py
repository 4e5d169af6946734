"""A focus on words over restarts and a kill: what links said is part of the fold, and still has its say."""

import numpy as np
import pytest

from evercrawl.config import Focus
from evercrawl.model.focus import Focusing
from evercrawl.progress import Limits
from evercrawl.schedule.policies.xyleme import Xyleme
from evercrawl.simulate.worlds.made_web import MadeWeb

WEB = MadeWeb(3, ("http://a.example", "http://b.example"), pages=40)
SEEDS = [f"{origin}/" for origin in WEB.origins]
FOCUS = (Focus(words=("/p/7", "/p/8"), weight=9), Focus(words=("/p/20",)))


def meant(partition) -> list[str]:
    """Return the pages that an entry means by the words of links, as no title names a path."""
    focusing = Focusing(partition.state, FOCUS, partition.journal.read)
    slots = np.arange(partition.state.known.count, dtype=np.uint32)
    found = np.flatnonzero(focusing.entries(slots) >= 0).tolist()
    return sorted(partition.state.urls.get_many(found))


@pytest.mark.parametrize("policy", [None, Xyleme])
def test_what_links_said_survives_restarts(run, policy):
    world = run.World(WEB)
    settings = {"focus": FOCUS, "scope": "any", "snapshot_every_s": 5.0, "delay_s": 0.1, "refresh_after_s": 30.0}
    for pages in (12, 25, 200):
        run(world, SEEDS, Limits(pages=pages), policy=policy() if policy else None, **settings)
        run.same()
        folded, restored = run.folded(), run.restored()
        rows = [partition.state.known.rows()["anchor_mark"].tolist() for partition in (folded, restored)]
        assert rows[0] == rows[1]
        told = meant(restored)
        folded.close()
        restored.close()
    assert told == [f"{origin}/p/{n}" for origin in WEB.origins for n in (20, 7, 8)]
