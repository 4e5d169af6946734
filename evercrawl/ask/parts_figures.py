"""Metrics of each partition, in the Prometheus text format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from evercrawl.ask.parts_line import PartState

_FIGURES: Final = (
    ("up", "gauge", "1 while a process of the partition is connected"),
    ("lives_total", "counter", "processes of the partition that this run began"),
    ("known_urls", "gauge", "known URLs that the partition owns"),
    ("foreign_urls", "gauge", "URLs of other partitions that it knows"),
    ("pages_held", "gauge", "pages held"),
    ("unread_urls", "gauge", "own URLs that were never fetched"),
    ("visits_total", "counter", "visits in this run"),
    ("exchanges_in_flight", "gauge", "exchanges under way"),
    ("letters_total", "counter", "letters written and applied since the crawl began"),
    ("letters_under_way", "gauge", "letters not acknowledged yet"),
    ("messages_refused_total", "counter", "messages, and URLs in them, that were forged, damaged or outdated"),
    ("addresses_leased", "gauge", "addresses that the partition may request"),
    ("addresses_let", "gauge", "addresses that it lets to itself and to others"),
    ("silent_seconds", "gauge", "for how long its process has said nothing; 0 as long as that is nothing unusual"),
    ("at_rest", "gauge", "1 while nothing is left to fetch, and nothing is owed to other partitions"),
)


def figures(state: PartState) -> dict[str, int]:
    """Return the metrics of one partition, by name."""
    return {
        "up": int(state.up), "lives_total": state.lives, "known_urls": state.known, "foreign_urls": state.elsewhere,
        "pages_held": state.fetched, "unread_urls": state.unread, "visits_total": state.visits,
        "exchanges_in_flight": state.in_flight, "letters_total": state.letters, "letters_under_way": state.under_way,
        "addresses_leased": state.leases, "addresses_let": state.let, "at_rest": int(state.at_rest),
        "silent_seconds": round(state.silent_s), "messages_refused_total": state.refused,
    }  # fmt: skip


def exposition(parts: Iterable[PartState]) -> str:
    r"""Return the metrics of all partitions, in order, in the Prometheus text format.

    Examples
    --------
    >>> print("\n".join(exposition([PartState(0, up=True)]).splitlines()[:3]))
    # HELP evercrawl_partition_up 1 while a process of the partition is connected
    # TYPE evercrawl_partition_up gauge
    evercrawl_partition_up{partition="0"} 1
    """
    states, lines = list(parts), list[str]()
    rows = [(state.number, figures(state)) for state in states]
    for name, kind, meaning in _FIGURES:
        whole = f"evercrawl_partition_{name}"
        lines += [f"# HELP {whole} {meaning}", f"# TYPE {whole} {kind}"]
        lines += [f'{whole}{{partition="{number}"}} {row[name]}' for number, row in rows]
    return "\n".join(lines) + "\n"
