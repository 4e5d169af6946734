"""A compiled heap of pages with the place of each page: the page with the largest key is on top."""

from typing import Any, NamedTuple

from evercrawl.kernels.build import compiled


class PlacedHeap(NamedTuple):
    """The pages by place, the place of each page, and the key of each page; all of shape (n,)."""

    page: Any
    place: Any
    key: Any


@compiled
def rise(heap: PlacedHeap, page: int) -> None:
    """Move a page up to the place of its key; among equal keys, the earlier page is above."""
    i, key = heap.place[page], heap.key[page]
    while i > 0:
        above = (i - 1) >> 1
        other = heap.page[above]
        if heap.key[other] >= key:
            break
        heap.page[i] = other
        heap.place[other] = i
        i = above
    heap.page[i] = page
    heap.place[page] = i


@compiled
def sink(heap: PlacedHeap, page: int) -> None:
    """Move a page down to the place of its key."""
    n = len(heap.page)
    i, key = heap.place[page], heap.key[page]
    while True:
        below = 2 * i + 1
        if below >= n:
            break
        other = heap.page[below]
        if below + 1 < n and heap.key[heap.page[below + 1]] > heap.key[other]:
            below += 1
            other = heap.page[below]
        if heap.key[other] <= key:
            break
        heap.page[i] = other
        heap.place[other] = i
        i = below
    heap.page[i] = page
    heap.place[page] = i


@compiled
def settle(heap: PlacedHeap) -> None:
    """Build a heap from pages in any order."""
    for i in range(len(heap.page) // 2 - 1, -1, -1):
        sink(heap, heap.page[i])
