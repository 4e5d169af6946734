"""What a collection of garbage left is not looked through again."""

import gc
import weakref

from evercrawl.crawl.collecting import sparing_survivors


class Ring:
    """Something that holds itself."""

    def __init__(self) -> None:
        self.ring = self


def test_what_was_left_is_no_longer_looked_through() -> None:
    with sparing_survivors():
        kept = [[i] for i in range(10_000)]
        gc.collect()
        assert gc.get_freeze_count() >= len(kept)
        assert len(gc.get_objects()) < len(kept)


def test_rings_that_nobody_holds_still_go() -> None:
    with sparing_survivors():
        gc.collect()
        gone = weakref.ref(Ring())
        gc.collect()
        assert gone() is None


def test_at_the_end_all_is_as_before() -> None:
    with sparing_survivors():
        spared = Ring()
        gc.collect()
        held = weakref.ref(spared)
        del spared
    gc.collect()
    assert held() is None
    assert gc.get_freeze_count() == 0


def test_what_was_there_before_is_not_looked_through() -> None:
    before = [[i] for i in range(10_000)]
    with sparing_survivors():
        assert len(gc.get_objects()) < len(before)
