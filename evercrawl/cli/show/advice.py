"""Advice for the user about a run that fails everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evercrawl.progress import Progress

_UNREACHED = frozenset({"dns", "connect", "timeout", "reset", "tls", "proxy"})
_ROBOTS = "robots_unreachable"
_MANY = 10  # number of failures that suffices, whatever is still to be tried


def advice(progress: Progress) -> str:
    """Return advice about a run whose visits have all failed in the same way; "" while other results are possible.

    Examples
    --------
    >>> from evercrawl.progress import Progress
    >>> advice(Progress(at=0, outcomes={"error": 3}, errors={"dns": 3}))[:57]
    'nothing could be reached: check that this machine is onli'
    >>> advice(Progress(at=0, outcomes={"ok": 1, "error": 3}, errors={"dns": 3}))
    ''
    >>> advice(Progress(at=0, outcomes={"refused": 1}, errors={"refused_port": 1}))[:46]
    'every URL was refused: its port belongs to ano'
    """
    if progress.rendering:
        return ""
    kinds = set(progress.errors)
    if _ROBOTS in kinds and _all_wait_for_robots(progress):
        return (
            f"{progress.robots_trouble}; without it, no page of the site is requested. It is tried again later "
            "and at every start; check that the site answers and that --proxy, if set, is right; for an untrusted "
            "certificate, use --no-verify-tls"
        )
    failed = sum(progress.errors.values())
    early = failed < min(progress.queue, _MANY)  # the results of some pages are not known yet
    if early or not kinds or not set(progress.outcomes) <= {"error", "refused"}:
        return ""
    if kinds == {"refused_port"}:
        return (
            "every URL was refused: its port belongs to another service, such as mail, and browsers refuse it "
            "too; give a URL with the port of the web server"
        )
    if kinds <= {"refused_address", "refused_port"}:
        return (
            "every address was refused, because it belongs to a private or special network; to crawl your own, name it "
            "in allow_net of crawl.toml or with --allow-net, such as --allow-net 127.0.0.0/8"
        )
    if kinds == {"robots"}:
        return "robots.txt disallows every page; ask the owner of the site, or name other seeds"
    if kinds <= _UNREACHED:
        return (
            "nothing could be reached: check that this machine is online and that the seeds are spelt correctly; if "
            "you need a proxy or a particular name server, name it with --proxy or --dns"
        )
    return ""


def _all_wait_for_robots(progress: Progress) -> bool:
    return not (progress.outcomes or progress.in_flight) and set(progress.waiting) <= {"robots.txt"}
