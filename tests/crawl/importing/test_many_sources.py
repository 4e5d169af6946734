"""An import of more files than 16 bits can number, as a crawl of Common Crawl has."""

from types import SimpleNamespace

import numpy as np

from evercrawl.crawl.importing.captures import Spot
from evercrawl.crawl.importing.planning import CapturePlace, Plan


def test_more_than_65_536_files_are_numbered():
    draw = np.random.default_rng(1)
    instants = draw.permutation(70_000).astype(float).tolist()
    spots = [[Spot(at, True, "http://a.example/", n, 1)] for n, at in enumerate(instants)]
    plan = Plan([SimpleNamespace(size_bytes=1, read_bytes=1, name="", scan=spot.__iter__) for spot in spots], 1e9)
    assert plan.read(lambda done, total: None, lambda: False)
    places = list(plan.places())
    assert places == [CapturePlace(int(n), int(n), 1, 0) for n in np.argsort(instants)]
