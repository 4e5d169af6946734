"""The candidates of a choice, as passed between kernels."""

from typing import Any, NamedTuple


class CandidateRows(NamedTuple):
    """The candidates of one choice, and their hosts, each with its best row."""

    slots: Any
    of: Any
    places: Any
    kinds: Any
    hosts: Any
    best: Any
    row: Any
    next: Any  # by host, the value of its second best row
    dear: Any  # by row, the price of a visit to its host relative to the crawl's price
    counts: Any  # hosts; rows to value, woken ones among them; hosts that became ready, from the far end of `hosts`
