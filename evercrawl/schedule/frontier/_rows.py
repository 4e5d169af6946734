"""The candidates of a choice, as the kernels hand them on."""

from typing import Any, NamedTuple


class CandidateRows(NamedTuple):
    """The candidates of one choice, and the hosts that they are of, each with its best row."""

    slots: Any
    of: Any
    places: Any
    kinds: Any
    hosts: Any
    best: Any
    row: Any
    next: Any  # of each host, the value of its second best row
    dear: Any  # of each row, how many times the crawl's price a visit to its host costs
    counts: Any  # hosts; rows to be valued, woken ones among them; hosts whose time came, from the far end of `hosts`
