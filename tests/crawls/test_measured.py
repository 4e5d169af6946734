"""In crawls of living webs, freshness as measured, as expected and as it was agree; `bench/measured.py` does 100."""

import numpy as np
from true_copies import true_copies

from evercrawl.ask.measured import MeasuredCopies
from evercrawl.simulate.living.lives import relive
from evercrawl.simulate.living.web import LivingWeb
from evercrawl.store.journal.events import Drawn

BEGAN_AT, PAGES = 1_700_000_000.0, 120


def crawled(seed):
    """Crawl a living web, and return what was drawn there, and the true freshness at these instants."""
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
    return seen


def test_measured_expected_and_true_freshness_agree():
    """Each interval covers 95 of 100 draws, so one of eight may lie beside what is expected."""
    crawls = [crawled(seed) for seed in range(1, 5)]
    for seen in crawls:
        assert seen["draws"] > 30
        assert seen["measures"][0].fresh_low < seen["true"] < seen["measures"][0].fresh_high
        assert all(measure.age_low_s < measure.age_s < measure.age_high_s for measure in seen["measures"])
    measures = [measure for seen in crawls for measure in seen["measures"]]
    assert sum(each.fresh_low < each.fresh_expected < each.fresh_high for each in measures) >= len(measures) - 1
    assert abs(np.mean([each.fresh_expected - each.fresh for each in measures])) < 0.1
    assert max(seen["found"].visits.expected_error for seen in crawls) < 0.12
