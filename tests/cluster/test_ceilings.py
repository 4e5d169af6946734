"""What partitions use of a ceiling together never exceeds it, and none of it is left while one wants more."""

import random

import pytest

from evercrawl.cluster.ceilings import EVERY_S, SharedCeiling, wanted
from evercrawl.cluster.part import LEAVE_S, ended_by
from evercrawl.crawl.pace import Pace
from evercrawl.errors import CeilingError, StoreError


class Parts:
    """Partitions that want so much, and hear late what they may use."""

    def __init__(self, wants: list[float], seed: int) -> None:
        self.wants, self.ceiling, self.draw = wants, SharedCeiling(len(wants)), random.Random(seed)
        self.by, self.last = [1.0] * len(wants), [0.0] * len(wants)
        self.box = list[tuple[float, int, float]]()
        self.leave = [LEAVE_S] * len(wants)
        self.hangs = dict[int, float]()  # partition -> until when
        self.now = 0.0

    @property
    def used(self) -> list[float]:
        """What each uses; who has no leave uses nothing, and who hangs may have used its part a moment ago."""
        return [
            min(want, part) if until > self.now else 0.0
            for want, part, until in zip(self.wants, self.by, self.leave, strict=True)
        ]

    def live(self, seconds: float) -> None:
        until = self.now + seconds
        while self.now < until:
            self.now += 0.5
            shut = {number for number, until in enumerate(self.leave) if until < self.now}
            for number, part in self.ceiling.turn(self.last, self.now, shut).items():
                self.box.append((self.now + self.draw.choice([0.0, 1.0, 7.0]), number, part))
            for at, number, part in sorted(self.box):
                if at <= self.now and self.hangs.get(number, 0.0) < self.now:
                    self.by[number] = part
            self.box = [each for each in self.box if each[0] > self.now or self.hangs.get(each[1], 0.0) >= self.now]
            for number, part in enumerate(self.by):
                if self.hangs.get(number, 0.0) < self.now and all(number != each[1] for each in self.box):
                    self.leave[number] = self.now + LEAVE_S
                    self.ceiling.heard(number, part)
                    self.last[number] = self.used[number]
            assert (
                sum(part for part, until in zip(self.by, self.leave, strict=True) if until > self.now)
                <= len(self.by) + 1e-9
            )


@pytest.mark.parametrize("seed", range(8))
def test_the_ceiling_is_never_passed_and_used_while_somebody_wants_it(seed):
    draw = random.Random(seed)
    parts = Parts([draw.choice([0.0, 0.3, 2.0, 9.0]) for _ in range(draw.choice([2, 4, 8]))], seed)
    for _ in range(4):
        parts.live(12 * EVERY_S)
        whole = min(sum(parts.wants), len(parts.wants))
        assert sum(parts.used) >= 0.9 * whole - 0.1 * len(parts.wants)
        parts.wants = [draw.choice([0.0, 0.3, 2.0, 9.0]) for _ in parts.wants]


def test_one_that_does_not_answer_keeps_what_it_had():
    ceiling = SharedCeiling(2)
    assert ceiling.turn([1.0, 0.0], 0.0) == {1: 0.1}
    assert ceiling.turn([1.0, 0.0], 100.0) == {}, "it may still use all of its part"
    ceiling.heard(1, 1.0)
    assert ceiling.turn([1.0, 0.0], 101.0) == {}
    ceiling.heard(1, 0.1)
    assert ceiling.turn([1.0, 0.0], 101.5) == {0: pytest.approx(1.9)}


def test_what_one_leaves_that_has_come_to_rest_is_with_others_after_moments():
    ceiling = SharedCeiling(4)
    assert ceiling.turn([1.0] * 4, 0.0) == {}
    assert ceiling.turn([1.0] * 4, 3.0) == {}
    assert ceiling.turn([1.0, 1.0, 1.0, 0.0], 3.5) == {3: 0.1}
    ceiling.heard(3, 0.1)
    raised = ceiling.turn([1.0, 1.0, 1.0, 0.0], 4.0)
    assert raised == dict.fromkeys(range(3), pytest.approx(1.3))
    for number, part in raised.items():
        ceiling.heard(number, part)
    assert ceiling.turn([1.3, 1.3, 0.0, 0.0], 5.0) == {}, "not more often than every other second"
    assert ceiling.turn([1.3, 1.3, 0.0, 0.0], 6.5) == {2: 0.1}


def test_who_wants_all_has_an_even_part():
    assert wanted([0.1, 0.1, 1.9, 1.9], [0.1, 0.1, 1.9, 1.9]) == [1.0] * 4


def test_nobody_is_lowered_where_others_could_not_use_what_that_leaves():
    ceiling = SharedCeiling(32)
    used = [1.0] * 31 + [0.0]
    for second in range(0, 60 * int(EVERY_S), 1):
        for number, part in ceiling.turn(used, float(second)).items():
            ceiling.heard(number, part)
    assert ceiling.told == [1.0] * 32


@pytest.mark.parametrize("seed", range(8))
def test_what_a_hung_partition_had_goes_to_others_and_is_never_used_twice(seed):
    """Its loop stands still: it hears nothing; when it goes on, it hears all that it was told before it has leave."""
    parts = Parts([9.0] * 4, seed)
    parts.live(3 * EVERY_S)
    for _ in range(3):
        hung = parts.draw.randrange(4)
        until = parts.now + parts.draw.choice([4.0, 11.0, 30.0, 90.0])
        lasts = until - parts.now
        parts.hangs = {hung: until}
        parts.live(lasts)
        if lasts >= 90.0:
            assert sum(parts.used) >= 3.8
        parts.hangs = {}
        parts.live(6 * EVERY_S)
        assert sum(parts.used) >= 3.6
        assert parts.used[hung] >= 0.8


def test_one_that_has_no_leave_need_not_say_that_it_goes_by_less():
    ceiling = SharedCeiling(2)
    assert ceiling.turn([1.0, 1.0], 0.0, shut={1}) == {1: 0.1}, "what it used before does not count"
    assert ceiling.turn([1.0, 1.0], 0.5, shut={1}) == {0: pytest.approx(1.9)}
    ceiling.heard(0, 1.9)
    assert ceiling.turn([1.9, 1.0], 20.0, shut={1}) == {}, "nobody else could use more"


def test_a_partition_that_is_as_large_as_it_can_become_is_not_started_again():
    ended = ended_by(CeilingError("the partition is full"))
    assert (ended.again, ended.code, ended.error) == (False, 3, "the partition is full")
    assert ended_by(StoreError("a file cannot be read")).again


@pytest.mark.parametrize("rate_per_s", [0.0, 50.0])
def test_bytes_that_one_partition_does_not_use_are_received_by_another_and_no_more(rate_per_s):
    """One of two partitions has a page now and then, and the other one always has one; then both have."""
    rate, size = 1000.0, 4000
    paces, ceiling = [Pace(rate_per_s, rate) for _ in range(2)], SharedCeiling(2)
    received, half = [0, 0], list[list[int]]()
    for step in range(8000):
        now = step / 10
        for number, pace in enumerate(paces):
            if pace.free(now) and (number == 0 or step % 500 == 0 or step >= 4000):
                pace.started(now)
                pace.received(now, size)
                received[number] += size
        assert sum(received) <= 2 * rate * now + 2 * size + 2
        if step % 5 == 0:
            used = [pace.used(now) for pace in paces]
            for number, part in ceiling.turn(used, now).items():
                paces[number].share(part, now)
                ceiling.heard(number, part)
            for pace in paces:
                pace.observed(now, 0)
        if step == 3999:
            half.append(list(received))
    assert half[0][0] > 1.5 * rate * 400
    assert all(later - before > 0.8 * rate * 400 for later, before in zip(received, half[0], strict=True))
