"""In crawls of living webs, freshness as measured, as expected and as it was agree; `bench/measured.py` does 100."""

import numpy as np
import pytest
from true_copies import true_copies

from evercrawl.ask.measured import MeasuredCopies
from evercrawl.simulate.living.lives import relive
from evercrawl.simulate.living.web import LivingWeb
from evercrawl.store.journal.events import Drawn

BEGAN_AT, PAGES = 1_700_000_000.0, 120


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_measured_expected_and_true_freshness_agree(seed):
    web = LivingWeb(seed, pages=PAGES, cycle_s=float(PAGES), began_at=BEGAN_AT)
    seen = {}

    def look(partition) -> None:
        events = [e for _, _, e in partition.journal.replay() if e.at > BEGAN_AT + 2 * PAGES]
        found = MeasuredCopies().take(events)
        at = np.array([each.at for each in events if isinstance(each, Drawn) and not each.by_importance])
        seen.update(
            found=found, true=float(true_copies(web, partition, at).fresh.mean()), draws=len(at),
            measures=[found.measure(by_importance=each) for each in (False, True)],
        )  # fmt: skip

    relive(web, 1.0, 5.0 * PAGES, look=look, probe_share=0.25)
    assert seen["draws"] > 30
    for measure in seen["measures"]:
        assert measure.fresh_low < measure.fresh_expected < measure.fresh_high
        assert measure.age_low_s < measure.age_s < measure.age_high_s
    assert seen["measures"][0].fresh_low < seen["true"] < seen["measures"][0].fresh_high
    assert seen["found"].visits.expected_error < 0.12
