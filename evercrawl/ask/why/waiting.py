"""What a page waits for before it is visited: its turn, its host, its robots.txt, or a retry after failures."""

import numpy as np

from evercrawl.config.site_rules import Sites
from evercrawl.fetch.robots import parse
from evercrawl.model.rules.robots_file import ROBOTS_FILE, stored, unreachable
from evercrawl.model.rules.waits import silent_until
from evercrawl.model.stored.answers import instant
from evercrawl.model.view import View
from evercrawl.model.web.mirrors import SAMPLED
from evercrawl.parse.urls import origin, path_query
from evercrawl.store.resuming import unanswered
from evercrawl.types import Outcome


def robots_rule(view: View, url: str) -> str:
    """Return the rule of the last robots.txt that disallows `url`, as a line of the file; "" if none does."""
    held = stored(view.partition.directory / ROBOTS_FILE, origin(url))
    if held is None:
        return ""
    body, _ = held
    robots, agent, path = parse(body), view.config.product_token, path_query(url)
    return "" if robots.allowed(agent, path) else robots.deciding(agent, path)


def hindrances(view: View, slot: int) -> list[str]:
    """Return what prevents a request for a page now, a sentence each, apart from waiting for its turn."""
    state, url = view.state, view.state.urls.get(slot)
    number = int(state.known.row(slot)["host"])
    host, until, found = state.hosts[number], state.away.get(number, 0.0), list[str]()
    closed = unreachable(view.partition.directory / ROBOTS_FILE).get(origin(url))
    rule = robots_rule(view, url)
    if closed:
        found.append(f"the robots.txt of {origin(url)} could not be fetched ({closed}); until it can, its pages wait")
    elif stored(view.partition.directory / ROBOTS_FILE, origin(url)) is None:
        found.append(f"the robots.txt of {origin(url)} has not been fetched yet; it is fetched before any page")
    elif rule:
        found.append(f"robots.txt disallows it ({rule})")
    unread = state.record_of(slot) is None
    original = view.mirrors.original(slot, view.now) if view.mirrors is not None and unread else ""
    if original:
        found.append(f"{host} is a mirror: {original} is known, and one in {SAMPLED} of such pages is read")
    sites = Sites(view.config.sites)
    if (opens_at := sites.opens_at(host, view.now)) > view.now and (own := sites.of(host)) is not None:
        found.append(
            f'crawl.toml allows requests to {host} only {own.hours} UTC ([site."{own.name}"]); '
            f"the next are at {instant(opens_at)}"
        )
    if until > view.now:
        found.append(f"{host} is not requested until {instant(until)}, after errors or because it asked for a pause")
    elif silent_until(state).get(number, 0.0) > view.now:
        again = instant(silent_until(state)[number])
        found.append(f"{host} did not answer while too many requests waited; it is tried again from {again} on")
    elif number in unanswered(state, [number]):
        found.append(f"{host} did not answer the last request; its name or its server may be gone")
    return found


def retry(view: View, slot: int) -> str:
    """Return a sentence on when a page that was gone or failing is tried again; "" for any other page."""
    index = view.state.record_of(slot)
    if index is None:
        return ""
    row = view.state.records.rows[index]
    misses, outcome = int(row["misses"]), Outcome(int(row["outcome"]))
    if not misses or outcome not in (Outcome.GONE, Outcome.ERROR):
        return ""
    what = "gone" if outcome == Outcome.GONE else "in trouble"
    times = f"it was found {what} {misses} times in a row" if misses > 1 else f"it was found {what}"
    slots = np.array([slot], np.uint32)
    at = float(view.earliest_at(slots)[0])
    if not np.isfinite(at):
        return (
            f"{times} and is retired: it is requested again if it is named, linked to anew, or listed with a new date"
        )
    due_at = float(view.due_at(view.candidates(slots))[0])
    if np.isinf(due_at):
        return f"{times}, and {view.config.policy} does not visit it again in its present state"
    return f"{times}; it is tried again from {instant(at if np.isnan(due_at) else due_at)} on"


def ahead(view: View, slot: int) -> tuple[int, int]:
    """Return the number of pages to which a visit is worth more than to `slot`: in all, and on its host.

    Only pages that could be visited now are compared: unread pages, and pages whose refresh is allowed. Hosts rest
    between visits, so a page of another host may well come first.
    """
    worth = float(view.informed.value(view.candidates(np.array([slot], np.uint32)), view.context)[0])
    found = view.competing()
    more = found.value > worth
    host = int(view.state.known.row(slot)["host"])
    return int(np.count_nonzero(more)), int(np.count_nonzero(found.host[more] == host))
