"""evercrawl why: explain the scheduling of one page, in numbers."""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from evercrawl.cli import arguments, seeds, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.meter import Meter
from evercrawl.cli.show.plain import fit, many
from evercrawl.cli.show.why_weight import told
from evercrawl.cli.show.words import ago, every, percent, span
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.ask.changes.noises import NoiseHabit
    from evercrawl.ask.why.explanation import (
        Announcing,
        Belief,
        Origin,
        PageRequisites,
        PageWeight,
        UnreadExpectation,
        VisitSummary,
        Why,
        Worth,
    )

_MOST_NATS = 700.0
_WHOLE = 10.0  # times the price that are printed without decimals
_STATES = {"held": "stored"}
_MORE = (
    "It prints the page's importance and the pages it comes from, its rate of change, the value of a visit against "
    "the price, when the page is due, and what it is waiting for. For a URL outside the crawl, it prints why. The "
    "crawl may be running; nothing is changed. Examples: `evercrawl why https://example.org/`, `evercrawl why "
    "https://example.org/ --json --dir example`."
)


_NOISE_CHARS = 200


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "why", "explain when a page is visited, and why", run, _MORE)
    parser.add_argument("url", metavar="URL", help="the URL of the page")
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the explanation."""
    if args.url == "-" or args.url.startswith("@"):
        raise ConfigError(f"{args.url!r} is not a URL; name one page, such as https://example.org/")
    url = seeds.read_url(args.url)
    directory = where.directory(args)
    warm.before_reading("evercrawl.model.view")
    from evercrawl.ask.remote import remote
    from evercrawl.ask.why.explanation import Why

    found = remote(directory, Why, "why", url=url) or _read(directory, url)
    lines = [json_line("why", asdict(found))] if args.json else [f"{name:<12}{said}" for name, said in rows(found)]
    print(fit("\n".join(lines), sys.stdout))
    return 0


def _read(directory: Path, url: str) -> Why:
    """Return the explanation from the crawl directory."""
    from evercrawl.ask.why.why import why
    from evercrawl.model.stored.reader import opened
    from evercrawl.model.view import View, settings

    crawl = opened(directory)
    try:
        with Meter(sys.stderr, line_every_s=1.0) as meter:
            return why(View(crawl, settings(directory)[0], time.time()), url, tell=meter)
    finally:
        crawl.close()


def rows(found: Why) -> list[tuple[str, str]]:
    """Return the explanation as rows of a name and a text."""
    at = found.at
    return [
        ("page", found.url),
        ("state", f"{_STATES.get(found.state, found.state)}{_of(found)}"),
        *(("because", reason) for reason in found.reasons),
        *([("found", _found(found.found, at))] if found.found else []),
        *([("visited", _visited(found.history, at))] if found.history else []),
        *([("links", _cut(found.cut_links))] if found.cut_links else []),
        *([("opts out", f"of use by models ({', '.join(found.optouts)})")] if found.optouts else []),
        *([("shown", _shown(found.requisites))] if found.requisites and found.requisites.known else []),
        *(_weight(found.weight) if found.weight else []),
        *([("expected", _expected(found.expected))] if found.expected else []),
        *([("weight", told(found.weighed))] if found.weighed and found.weighed.weight != "importance" else []),
        *(_change(found.change) if found.change else []),
        *([("noise", _noise(found.noise))] if found.noise else []),
        *(_worth(found.worth, at, leads_on=found.state in {"alias", "redirect"}) if found.worth else []),
    ]


def _of(found: Why) -> str:
    """Return the page that it is an alias of, if it has no content of its own."""
    if not found.alias:
        return ""
    return f"; its content is that of {found.alias}" if found.state == "excluded" else f" of {found.alias}"


def _found(found: Origin, at: float) -> str:
    unlinked = "in a sitemap, a feed or an import, or added by a program" if found.depth else "as a seed"
    where = f"on {found.source}" if found.source else unlinked
    hops = f" and {many(found.hops, 'redirects')}" if found.hops else ""
    far = f", {many(found.depth, 'links')}{hops} from a seed" if found.depth or found.hops else ""
    return f"{where}{far}, {_when(found.found_at, at)}"


def _visited(history: VisitSummary, at: float) -> str:
    changed = f", the last {_when(history.changed_at, at)}" if history.changes and history.changed_at else ""
    return (
        f"{many(history.visits, 'times')}, last {_when(history.visited_at, at)}: {history.outcome}, "
        f"status {history.status or 'none'}; {many(history.changes, 'changes')} seen{changed}"
    )


def _shown(needed: PageRequisites) -> str:
    said = f"with {many(needed.known, 'requisites')}: {needed.archived:,} archived, {needed.owed:,} to be fetched"
    return said + "".join(f"; {url}: {why}" for url, why in list(needed.missing.items())[:3])


def _cut(links: int) -> str:
    return f"{many(links, 'further URLs')} ignored, because the page links to too many"


def _weight(weight: PageWeight) -> list[tuple[str, str]]:
    more = weight.feeding - len(weight.feeders)
    place = f"rank {weight.rank:,} of {weight.of:,}" if weight.rank else "its importance passes to its target"
    return [
        ("importance", f"{percent(weight.share)} of all, {weight.times_mean:.2f} times the mean; {place}"),
        *(
            [("  error", f"at most {percent(weight.error)}, given the links last read")]
            if weight.error is not None
            else []
        ),
        ("  from", f"{percent(weight.site_share)} because it is a page of its site"),
        *(
            ("", f"{percent(f.gives)} {f.how} from {f.url}{f' (one of its {f.out} links)' if f.how == 'link' else ''}")
            for f in weight.feeders
        ),
        *([("", f"and from {more:,} more {'page' if more == 1 else 'pages'}")] if more > 0 else []),
        ("cash", f"{percent(weight.cash)} of all importance, which its next visit would distribute"),
    ]


def _expected(found: UnreadExpectation) -> str:
    place = (
        "it is the next of its host" if found.owed
        else "its kind of URL is believed to be finite" if found.ends
        else "it is read to see whether its kind of URL is finite" if found.tried
        else "held back: its kind of URL seems endless, or is mostly copies"
    )  # fmt: skip
    return (
        f"to have unique content with a probability of {percent(found.own)} +- {percent(found.doubt)}, from "
        f"{many(found.read, 'pages')} of its kind read at its depth, and from others of its site; expected importance "
        f"{found.times:.3g} times that of its place in the tree of links; {place}"
    )


def _change(change: Belief) -> list[tuple[str, str]]:
    trusted = [
        name for name, so in (("Last-Modified", change.dates_trusted), ("sitemap", change.listings_trusted)) if so
    ]
    return [
        (
            "changes",
            f"{every(change.rate_per_s)} (90 % interval: {every(change.high_per_s)} to {every(change.low_per_s)})",
        ),
        ("", f"mean of its site: {every(change.prior_rate_per_s)}; trusted dates: {' and '.join(trusted) or 'none'}"),
        *([("lasts", _lasting(change.lasting, change.judged))] if change.lasting is not None else []),
        *([("announces", _announcing(change.announcing))] if change.announcing else []),
        *([("model", _model(change))] if change.by_clock is not None else []),
        (
            "fresh",
            "no copy is stored"
            if change.fresh is None
            else f"the copy is fresh with a probability of {percent(change.fresh)}",
        ),
    ]


def _noise(habit: NoiseHabit) -> str:
    """Return a sentence about the number of changes that were noise, with the last of them."""
    shown = "; ".join(f"{before} [-{went}-] {{+{came}+}}".strip() for before, went, came in habit.examples)
    example = f", such as: {shown[:_NOISE_CHARS]}" if shown else ""
    return f"{habit.noise} of its last {habit.changes} changes concerned only times, counters or the like{example}"


def _lasting(part: float, judged: int) -> str:
    last = "its last change" if judged == 1 else f"its last {judged} changes"
    return f"a change permanently replaces {percent(part)} of the page, on average over {last}"


def _announcing(found: Announcing) -> str:
    told = found.true + found.false
    right = f"{found.true:,} of {many(told, 'announcements')} {'was' if told == 1 else 'were'} true"
    if not found.heard:
        return f"no change that a visit found had been announced by its site; {right}"
    counted = f"{found.heard:,} that were found had been announced, {found.missed:,} had not"
    return f"about {percent(found.announced)} of its site's changes ({counted}); {right}"


def _model(change: Belief) -> str:
    clock = 1.0 / (1.0 + math.exp(-min(max(change.ahead_nats or 0.0, -_MOST_NATS), _MOST_NATS)))
    return f"changes together with its folder with a probability of {percent(clock)}, else independently"


def _worth(worth: Worth, at: float, *, leads_on: bool) -> list[tuple[str, str]]:
    return [
        ("worth", f"{value_in_words(worth)}; a visit costs {many(round(worth.cost), f'{worth.unit}s')}"),
        *([("wanted", f"{worth.wanted:.3g} times its importance: {worth.because}")] if worth.because else []),
        *([("no effect", worth.unheeded)] if worth.unheeded else []),
        ("due", _due(worth, at, leads_on=leads_on)),
        (
            "turn",
            f"{many(worth.ahead, 'pages')} with a higher worth now, {worth.ahead_on_host:,} on its host",
        ),
    ]


def value_in_words(worth: Worth) -> str:
    """Return the value of a visit: as a multiple of the price, or as a place in an order."""
    if worth.value is None:
        return f"not known to {worth.policy}"
    if worth.place:
        waited = "" if worth.waited_s is None else f"; waited {span(worth.waited_s)}"
        return f"{worth.place}{waited}, by {worth.policy}"
    if worth.price is None:
        return f"{worth.value:.3g} by {worth.policy}; the price is not known yet"
    by = float(f"{worth.value / worth.price:.2g}")
    times = f"{by:,.0f} times the price" if by >= _WHOLE else f"{by:.2g} times the price"
    return f"{times} ({worth.value:.3g} against {worth.price:.3g} per {worth.unit})"


def _due(worth: Worth, at: float, *, leads_on: bool) -> str:
    if worth.earliest_at is None:
        return "as soon as its turn comes"
    if worth.given_up:
        when = "never, in the present state" if worth.price is not None else f"never: {worth.policy} has given it up"
        when += "; it only leads to another page, and is visited when links give it importance" if leads_on else ""
    elif worth.due_at is None:
        when = "not known"
    else:
        when = _when(worth.due_at, at)
    return when if worth.earliest_at == worth.due_at else f"{when}; not before {_when(worth.earliest_at, at)}"


def _when(instant: float, now: float) -> str:
    from datetime import UTC, datetime

    away = ago(now - instant)
    if instant > 2e11:  # beyond the calendar
        return away
    return f"{datetime.fromtimestamp(int(instant), UTC):%Y-%m-%d %H:%M:%S} UTC ({away})"
