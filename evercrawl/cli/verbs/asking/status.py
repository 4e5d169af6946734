"""evercrawl status: the state of a crawl."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evercrawl.ask.instants import iso
from evercrawl.cli import arguments, warm, where
from evercrawl.cli.show.early import too_early
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.lines import clock, size
from evercrawl.cli.show.meter import Meter
from evercrawl.cli.show.plain import many, plain
from evercrawl.cli.show.targets import target_rows
from evercrawl.cli.show.words import percent, span
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    import argparse

    from evercrawl.ask.status import Status
    from evercrawl.change.probed import ProbedMeasure
    from evercrawl.store.requisites.book import RequisiteCounts

_AWAY = 10  # maximum number of paused hosts listed
_MORE = (
    "The crawl may be running; nothing is changed. Examples: `evercrawl status --json`, `evercrawl status "
    "--calibration --plot calibration.png`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "status", "show the state of a crawl", run, _MORE)
    parser.add_argument(
        "--calibration", action="store_true", help="compare the predicted P(fresh) with what visits found, instead"
    )
    parser.add_argument("--memory", action="store_true", help="show how much memory each part takes, instead")
    parser.add_argument("--plot", metavar="FILE", help="with --calibration: also plot it to FILE, as PNG")
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the status."""
    from evercrawl.ask.remote import remote
    from evercrawl.ask.status import Status, status

    if args.plot and not args.calibration:
        raise ConfigError("--plot draws the calibration; add --calibration")
    if args.memory and args.calibration:
        raise ConfigError("--memory and --calibration cannot be combined; give one of them")
    directory = where.directory(args)
    if args.plot:
        from evercrawl.lab.figures.plotting import require
        from evercrawl.store.disk.whole import placed

        require()
        placed(Path(args.plot))
    warm.before_reading("evercrawl.ask.status")
    if args.memory:
        return _measure_memory(directory, json_too=args.json)
    if args.calibration:
        return _calibrate(directory, args.plot, json_too=args.json)
    found = remote(directory, Status, "status") or status(directory)
    if args.json:
        print(json_line("status", _fields(found)))
    elif sys.stdout.isatty():
        _show(found)
    else:
        print("\n".join(f"{name:<16}{text}" for name, text in rows(found)))
    return 0


def _fields(found: Status) -> dict[str, Any]:
    """Return the state as an object; times by host are written like all other times."""
    import msgspec  # here, because every help of the command line imports this file

    away = {"away": {host: iso(until) for host, until in found.away.items()}, "away_s": found.away}
    proxies = {"proxies": msgspec.to_builtins(found.proxies)}
    return {**asdict(found), **_measures(found), **away, **proxies, "running": found.running}


def _calibrate(directory: Path, plot: str | None, *, json_too: bool) -> int:
    """Print the calibration of P(fresh)."""
    from evercrawl.ask.status import calibration as asked
    from evercrawl.cli.show import calibration

    with Meter(sys.stderr) as meter:
        found = asked(directory, meter)
    if plot:
        from evercrawl.cli.show.figures.calibration import draw
        from evercrawl.store.disk.whole import atomic_file

        with atomic_file(Path(plot)) as temporary:
            draw(calibration.groups(found), temporary)
    print(json_line("calibration", calibration.rounded(found)) if json_too else "\n".join(calibration.lines(found)))
    return 0


def _measure_memory(directory: Path, *, json_too: bool) -> int:
    """Print the use of memory."""
    from evercrawl.ask.memory import memory
    from evercrawl.cli.show import memory as shown

    found = memory(directory)
    print(json_line("memory", shown.as_json(found)) if json_too else "\n".join(shown.lines(found)))
    return 0


def _measures(found: Status) -> dict[str, Any]:
    """Return the measurements as objects."""
    both = {"measured": found.measured, "measured_by_importance": found.measured_by_importance}
    return {name: of._asdict() if of is not None else None for name, of in both.items()}


def rows(found: Status) -> list[tuple[str, str]]:
    """Return a crawl's state as lines of a name and a text."""
    classes = ", ".join(f"{name} {count:,}" for name, count in found.classes.items())
    return [
        ("directory", found.directory),
        ("crawl", _running(found)),
        ("policy", found.follows),
        ("started", _ago(found.made_at, found.at)),
        ("known URLs", f"{found.known:,} ({found.never_fetched:,} never fetched)"),
        ("fetched pages", f"{found.fetched:,} with stored content"),
        ("fresh", _fresh(found)),
        *_importance(found),
        *target_rows(found.targets),
        *_measured(found),
        ("classes", classes or "none yet"),
        *_copies(found),
        *((name, f"{count:,} links rejected because of this limit") for name, count in found.refused_links.items()),
        *([("opt-outs", _optouts(found))] if found.optouts else []),
        *([("cut", f"{many(found.cut_links, 'links')} ignored, of pages with too many")] if found.cut_links else []),
        ("visits", f"{found.visits:,} ({found.changes:,} found a change)"),
        ("received", size(found.received_bytes)),
        *([("requisites", requisite_words(found.requisites))] if found.requisites else []),
        ("hosts", f"{found.hosts:,} ({len(found.away):,} not requested for now)"),
        *_away(found.away, found.at),
        *_silent(found),
        *_robots(found),
        *_proxies(found),
        *_set_aside(found),
        ("archive", f"{size(found.archive_bytes)} in {many(found.archive_segments, 'segments')}"),
        ("journal", size(found.journal_bytes)),
        ("snapshot", "none yet" if found.snapshot_at is None else _ago(found.snapshot_at, found.at)),
        ("versions", ", ".join(f"{name} {version}" for name, version in found.versions.items())),
        *(("to be repaired", sentence) for sentence in found.repairs),
    ]


def _show(found: Status) -> None:
    """Print the rows as a table on a terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", justify="right")
    table.add_column(overflow="fold")
    for name, text in rows(found):
        table.add_row(name, Text(plain(text), "yellow" if name == "to be repaired" else ""))
    Console().print(table)


def _running(found: Status) -> str:
    who = found.holder
    if who is None:
        return "not running"
    if not {"pid", "host", "since"} <= who.keys():
        return "running"
    return f"running: process {who['pid']} on {who['host']}, since {_ago(who['since'], found.at)}"


def again(found: Status) -> int:
    """Return the number of visits to pages that had been visited before."""
    return max(found.visits - (found.known - found.never_fetched), 0)


def _fresh(found: Status) -> str:
    if found.fresh is None:
        return "no copy is held yet"
    if early := too_early(again(found), "visits", "to pages read before"):
        return f"{early}, to estimate how often pages change here"
    weighted = f", {percent(found.fresh_by_importance)} weighted by importance" if found.fresh_by_importance else ""
    aged = f"; expected mean age {span(found.age_s)}" if found.age_s else ""
    return f"{percent(found.fresh)} of the copies expected{weighted}{aged}"


def _importance(found: Status) -> list[tuple[str, str]]:
    """Return the bound on the error of the pages' importance."""
    said = [f"1/G = {found.importance_factor:.2g}"] if found.importance_factor is not None else []
    if found.importance_error is not None:
        said += [
            f"the errors of all shares sum to at most {percent(found.importance_error)}, given the links last read"
        ]
    return [("importance", "; ".join(said))] if said else []


def _measured(found: Status) -> list[tuple[str, str]]:
    """Return the freshness measured by random probes, with the prediction for the same copies."""
    lines = [("measured", _measure(found.measured, "copies sampled at random"))] if found.measured else []
    weighted = found.measured_by_importance
    return lines + ([("", _measure(weighted, "copies sampled by importance"))] if weighted else [])


def _measure(of: ProbedMeasure, what: str) -> str:
    if early := too_early(of.probes, "probes", f"of {what}"):
        return early
    return (
        f"{percent(of.fresh)} of {of.probes:,} {what} were fresh (95 % interval {percent(of.fresh_low)} to "
        f"{percent(of.fresh_high)}; expected {percent(of.fresh_expected)}), mean age {span(of.age_s)} "
        f"(95 % interval {span(of.age_low_s)} to {span(of.age_high_s)}; expected {span(of.age_expected_s)})"
    )


def _copies(found: Status) -> list[tuple[str, str]]:
    near = [("near-duplicates", f"{found.near_duplicates:,} pages with nearly the same text as an earlier page")]
    soft = [("soft 404s", f"{found.soft_404:,} of the gone pages were answered with a success status")]
    return near * (found.near_duplicates > 0) + soft * (found.soft_404 > 0)


def _away(away: dict[str, float], now: float) -> list[tuple[str, str]]:
    listed = sorted(away.items(), key=lambda item: item[1])[:_AWAY]
    lines = [("", f"{host} for {clock(until - now)} more") for host, until in listed]
    return lines if len(away) <= _AWAY else [*lines, ("", f"and {len(away) - _AWAY:,} more")]


def _silent(found: Status) -> list[tuple[str, str]]:
    if not found.silent:
        return []
    said = (
        f"{many(len(found.silent), 'hosts')} did not answer while too many requests waited; they are tried again later"
    )
    return [("silent", said), *_away(found.silent, found.at)]


def _robots(found: Status) -> list[tuple[str, str]]:
    listed = list(found.robots_unreachable.items())[:_AWAY]
    lines = [
        ("robots.txt", f"of {origin} could not be fetched ({why}); its pages wait for it") for origin, why in listed
    ]
    more = len(found.robots_unreachable) - _AWAY
    return lines if more <= 0 else [*lines, ("", f"and of {more:,} more")]


def requisite_words(found: RequisiteCounts) -> str:
    """Return a sentence about the number of requisites, and their results."""
    return (
        f"{found.known:,} known: {found.archived:,} archived, {found.owed:,} to be fetched, {found.failed:,} failed; "
        f"{size(found.received_bytes)} received"
    )


def _optouts(found: Status) -> str:
    said = ", ".join(f"{name} {count:,}" for name, count in found.optouts.items())
    return f"of use by models, in the contents read: {said}"


def _proxies(found: Status) -> list[tuple[str, str]]:
    return [
        ("proxy", f"{one.proxy} is not used for another {clock(one.away_until - found.at)}: {one.why}")
        for one in found.proxies
        if one.away_until > found.at
    ]


def _set_aside(found: Status) -> list[tuple[str, str]]:
    listed = list(found.set_aside.items())[:_AWAY]
    lines = [("set aside", f"{url}, because evercrawl failed on it ({why}); see errors.log") for url, why in listed]
    events = list(found.skipped_events.items())[:_AWAY]
    lines += [
        ("set aside", f"event {number} of the journal, as evercrawl failed on it ({why})") for number, why in events
    ]
    more = len(found.set_aside) + len(found.skipped_events) - len(lines)
    return lines if more <= 0 else [*lines, ("", f"and {more:,} more")]


def _ago(at: float, now: float) -> str:
    from datetime import UTC, datetime

    return f"{datetime.fromtimestamp(int(at), UTC):%Y-%m-%d %H:%M:%S} UTC ({clock(max(now - at, 0))} ago)"
