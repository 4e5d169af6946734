"""What a collection of garbage left is not looked through again."""

import gc
import weakref

from evercrawl.crawl.memory_use.collecting import sparing_survivors


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


def test_what_is_new_is_looked_through_in_small_pieces() -> None:
    """With the thresholds of the command line a piece took 50 ms, in which the crawl stood still."""
    before, sizes = gc.get_threshold(), []

    def noted(phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            sizes.append(len(gc.get_objects(0)))

    gc.set_threshold(100_000, 20, 100)
    try:
        with sparing_survivors():
            gc.callbacks.append(noted)
            kept = [[i] for i in range(90_000)]
            gc.callbacks.remove(noted)
        assert gc.get_threshold() == (100_000, 20, 100)
    finally:
        gc.set_threshold(*before)
    assert len(kept) == 90_000
    assert len(sizes) >= 4
    assert max(sizes) < 25_000
