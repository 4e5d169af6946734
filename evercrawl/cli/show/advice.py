"""What to do when a run gets nowhere: a sentence for whoever started it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evercrawl.progress import Progress

_UNREACHED = frozenset({"dns", "connect", "timeout", "reset", "tls", "proxy"})
_ROBOTS = "robots_unreachable"
_MANY = 10  # failures that say enough, whatever is still to be tried


def advice(progress: Progress) -> str:
    """Return what to do about a run whose visits have all failed in one way; "" while anything else may come of it.

    Examples
    --------
    >>> from evercrawl.progress import Progress
    >>> advice(Progress(at=0, outcomes={"error": 3}, errors={"dns": 3}))[:57]
    'nothing could be reached: see whether this machine is on '
    >>> advice(Progress(at=0, outcomes={"ok": 1, "error": 3}, errors={"dns": 3}))
    ''
    >>> advice(Progress(at=0, outcomes={"refused": 1}, errors={"refused_port": 1}))[:46]
    'every URL was refused: its port is one of anot'
    """
    if progress.rendering:
        return ""
    kinds = set(progress.errors)
    if _ROBOTS in kinds and _all_wait_for_robots(progress):
        return (
            f"{progress.robots_trouble}, and without it no page of the site may be asked for; it is tried again after "
            "a while, and at every start: see whether the site answers, whether --proxy is right where there is one; "
            "for a certificate that nobody vouches for there is --no-verify-tls"
        )
    failed = sum(progress.errors.values())
    early = failed < min(progress.queue, _MANY)  # there are pages of which nothing is known yet
    if early or not kinds or not set(progress.outcomes) <= {"error", "refused"}:
        return ""
    if kinds == {"refused_port"}:
        return (
            "every URL was refused: its port is one of another service, such as mail, which browsers do not ask "
            "either; name a URL with the port of the web server"
        )
    if kinds <= {"refused_address", "refused_port"}:
        return (
            "every address was refused, since it is of a private or special network; to crawl your own network name it "
            "in allow_net of crawl.toml or with --allow-net, such as --allow-net 127.0.0.0/8"
        )
    if kinds == {"robots"}:
        return "robots.txt keeps us from every page; ask the owner of the site, or name other seeds"
    if kinds <= _UNREACHED:
        return (
            "nothing could be reached: see whether this machine is on the network and the seeds are spelt right; where "
            "a proxy or a name server of your own is needed, name it with --proxy or --dns"
        )
    return ""


def _all_wait_for_robots(progress: Progress) -> bool:
    return not (progress.outcomes or progress.in_flight) and set(progress.waiting) <= {"robots.txt"}
