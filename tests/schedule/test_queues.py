"""The queues of a host against a plain deque."""

from collections import deque

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evercrawl.schedule.queues import Queue
from evercrawl.types import NO_SLOT


@given(moves=st.lists(st.sampled_from(["push", "push_first", "pop"]), max_size=60))
def test_a_queue_is_a_deque(moves: list[str]) -> None:
    queue, model, free = Queue(np.zeros(64, np.uint32)), deque[int](), iter(range(64))
    for move in moves:
        if move == "push":
            model.append(slot := next(free))
            queue.push(slot)
        elif move == "push_first":
            model.appendleft(slot := next(free))
            queue.push_first(slot)
        else:
            assert queue.pop() == (model.popleft() if model else NO_SLOT)
        assert len(queue) == len(model)
        assert queue.first == (model[0] if model else NO_SLOT)


def test_queues_share_one_array_of_links() -> None:
    links = np.zeros(10, np.uint32)
    one, other = Queue(links), Queue(links)
    one.extend([1, 3, 5])
    other.extend([2, 4])
    one.push(other.pop())
    assert [one.pop() for _ in range(4)] == [1, 3, 5, 2]
    assert other.pop() == 4
    assert not links.any()
