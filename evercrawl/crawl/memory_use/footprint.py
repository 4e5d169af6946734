"""The memory use of the parts of a running crawl, item by item."""

from evercrawl.crawl.learn.learning import Learner
from evercrawl.crawl.parts import Choosing
from evercrawl.model.footprint import HOST, PAGE, URL, MemoryItem
from evercrawl.model.state_items import state_items
from evercrawl.schedule.abilities import Sizes
from evercrawl.schedule.base import Policy
from evercrawl.store.state import State


def items_of(state: State, choosing: Choosing, policy: Policy, learner: Learner) -> tuple[MemoryItem, ...]:
    """Return the items of memory; this is fast, because each part knows the size of its tables."""
    known, pages, hosts, learned = state.known.count, state.records.count, len(state.hosts), learner.nbytes()
    items = [
        *state_items(state, choosing.changes.priors),
        MemoryItem("limits of sites for vanished pages", HOST, len(state.sites), choosing.changes.nbytes),
        MemoryItem("marks of retired pages", URL, known, learned["retirees"]),
        MemoryItem("similarity hashes of contents", PAGE, pages, learned["near"]),
        MemoryItem("announced dates", PAGE, pages, choosing.changes.notices.nbytes),
        MemoryItem("budgets of hosts and sites", HOST, hosts, learned["budgets"]),
    ]
    if choosing.lessons is not None:
        items.append(MemoryItem("lessons of the last visits", PAGE, pages, choosing.lessons.nbytes))
    if isinstance(policy, Sizes):
        for name, of, rows, size_bytes in policy.table_sizes():
            items.append(MemoryItem(name, of, pages if rows < 0 else rows, size_bytes))
    return tuple(items)
