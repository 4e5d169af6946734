"""evercrawl crawl: start a crawl in a directory, or resume the one there."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from evercrawl.cli import arguments, partitions, running, seeds, warm, where
from evercrawl.cli.delivered import delivered
from evercrawl.cli.reaching import Reaching, tried
from evercrawl.cli.served import add_serve, beside
from evercrawl.cli.show import live
from evercrawl.cli.show.plain import fit
from evercrawl.cli.watching.watching import Watching, add_watching
from evercrawl.config import FILE_NAME, Config, has_settings, load, source_of, values
from evercrawl.errors import ConfigError
from evercrawl.progress import Limits, Progress

if TYPE_CHECKING:
    import asyncio

    from evercrawl.cli.show.lines import Watcher
    from evercrawl.model.stored.remembered import VisitListener
    from evercrawl.progress import Summary

_MORE = (
    "Without SEED, the crawl in --dir resumes; with SEED, the seeds are added to it. Without --dir, a new crawl goes "
    "into the current folder if that is empty, else into ./HOST of the first seed. By default the crawl stays on "
    "the seeds' hosts. It runs until it is stopped: Ctrl-C and SIGTERM end it cleanly, a second Ctrl-C at once. A "
    "killed crawl resumes without losing acknowledged pages. `evercrawl lab policies` lists the values of --policy, "
    "and `evercrawl lab policies NAME` the parameters of one. Examples: `evercrawl crawl example.org`, `evercrawl "
    "crawl https://example.org/ --dir example`, `evercrawl crawl --dir example --pages 1000`."
)

_UNNAMED: Final = (
    "site owners see {} in their logs and cannot tell whose crawl it is; give them a page or a mail address: "
    "--contact me@example.org"
)
_STOPPING: Final = "stopping: requests under way have a few seconds to finish; press Ctrl-C again to end at once"
UNREACHED: Final = "nothing was reached"


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "crawl", "start or resume a crawl", run, _MORE)
    parser.add_argument(
        "seeds",
        metavar="SEED",
        nargs="*",
        help="URL or host to start from, or a file of them, one per line (also @FILE); - for standard input",
    )
    arguments.add_directory(parser)
    parser.add_argument("--pages", metavar="N", help="stop after N visits; redirects, failed visits and refusals count")
    parser.add_argument("--seconds", metavar="TIME", help="stop after this time, such as 90, 30s, 10m or 1h")
    parser.add_argument("--until-idle", action="store_true", help="stop when no unread page is left")
    parser.add_argument(
        "--config", metavar="FILE", help="TOML file of settings for this run, in the format of crawl.toml"
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="fail on invalid lines of a seed file instead of skipping them",
    )
    parser.add_argument(
        "--partitions",
        metavar="P",
        help="divide a new crawl among this many processes, a power of two; a resumed crawl keeps its number",
    )
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        nargs="?",
        const="local",
        help="run the partitions on the machines of the Ray cluster at this address (auto: the one of this machine); "
        "without an address, on a Ray started for this crawl on this machine",
    )
    parser.add_argument(
        "--obey-orders",
        action="store_true",
        help="carry out the waiting orders that came with the directory, as from a backup or another machine; see them "
        "with `evercrawl orders` first",
    )
    parser.add_argument("--quiet", action="store_true", help="print errors only")
    add_serve(parser)
    arguments.add_json(parser)
    add_watching(parser)
    arguments.add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """Crawl until a limit is reached or the crawl is stopped."""
    running.obey_from_now()
    given = seeds.read_seeds(args.seeds, sys.stdin, strict=args.strict)
    directory = where.for_seeds(args, given.urls)
    config = configured(args, directory)
    limits = limited(args)
    parts = partitions.asked(args, directory, config, bool(given.urls))
    notes = given.notes()
    if args.obey_orders:
        vouch(directory)
    if args.dir is None and directory != Path():
        notes.append(f"the crawl is in {directory}; other verbs find it from here")
    with (
        live.Outlet(live.watcher(as_json=args.json, quiet=args.quiet), logged=bool(args.log)) as shown,
        beside(args, directory, shown) as served,
        delivered(config if parts is None else partitions.without_deliveries(config), directory, served) as told,
        Watching(args, directory, told) as watch,
    ):
        if parts is not None:
            return partitions.crawl(
                directory, parts, config, given.urls, limits, watch, notes, args.cluster, shown, watch.heard
            )
        return crawl(directory, config, given.urls, limits, watch, notes, watch.heard, quiet=args.quiet, outlet=shown)


def crawl(
    directory: Path,
    config: Config,
    urls: list[str],
    limits: Limits,
    watch: Watcher,
    notes: Sequence[str] = (),
    heard: VisitListener | None = None,
    *,
    quiet: bool = False,
    outlet: live.Outlet | None = None,
) -> int:
    """Run the engine, obeying signals, and let `watch` print the summary.

    Return 1 if nothing was reached, or if the run ended because `outlet` is closed.

    With `quiet`, for which `watch` shows nothing, standard error then reports what was tried.
    """
    from evercrawl.store.birth import is_crawl
    from evercrawl.store.disk.lock import lock_for_crawl

    if not urls and not directory.is_dir():  # a mistyped name must not create a directory
        raise ConfigError(f"there is no crawl in {directory}; name a seed: evercrawl crawl URL --dir {directory}")
    new = not is_crawl(directory)
    with lock_for_crawl(directory) as lock:  # before the engine is loaded, so that a second process fails at once
        from evercrawl.crawl import session as engine

        warm.up(watch)
        for note in [*notes, *([_UNNAMED.format(config.user_agent)] if new and urls and not config.contact else [])]:
            watch(Progress(at=time.time(), message=note))
        reaching = Reaching(watch, lambda: None)

        def work(stop: asyncio.Event) -> Awaitable[Summary]:
            nonlocal reaching
            reaching = Reaching(live.heard(watch, stop, outlet), stop.set)
            return engine.crawl(directory, config, urls, limits, watch=reaching, stop=stop, lock=lock, heard=heard)

        summary = running.until_stopped(work, lambda: watch(Progress(at=time.time(), message=_STOPPING)))
    if outlet is not None and outlet.ended_run:
        watch.finish(summary and replace(summary, reason=live.OUTPUT_CLOSED))
        live.say_closed()
        return 1
    if not reaching.failed or summary is None:
        watch.finish(summary)
        return 0
    for line in tried(directory, urls):
        watch(Progress(at=time.time(), message=line))
        if quiet:
            print(fit(f"evercrawl: {line}", sys.stderr), file=sys.stderr)
    watch.finish(replace(summary, reason=UNREACHED))
    return 1


def vouch(directory: Path) -> None:
    """Let the orders that came with a directory, or with the directories of its partitions here, count as given."""
    from evercrawl.store.disk.owner import see_owned
    from evercrawl.store.disk.plain import see_plain
    from evercrawl.store.orders import vouch_for_all

    parts = [directory]
    if (directory / where.PARTED).is_file():
        from evercrawl.cluster.birth import part_directories

        parts += part_directories(directory)
    for part in parts:
        see_plain(part)
        see_owned(part)
        vouch_for_all(part)


def configured(args: argparse.Namespace, directory: Path) -> Config:
    """Return the configuration of this run: the crawl's own file, --config, the environment, flags.

    Raises
    ------
    ConfigError
        One of them is invalid, or names a policy that does not exist.
    """
    files = [directory / FILE_NAME] if has_settings(directory) else []
    files += [Path(args.config)] if args.config is not None else []
    flags = arguments.given_settings(args)
    config = load(*files, environ=os.environ, flags=flags)
    source = source_of("policy_options", *files, environ=os.environ, flags=flags)
    _strategies_exist(config, "" if "policy_options" in flags else source)
    return config


def limited(args: argparse.Namespace) -> Limits:
    """Return the limits of this run."""
    pages = None if args.pages is None else arguments.value(values.whole(1), args.pages, "--pages")
    seconds = None if args.seconds is None else arguments.value(values.duration(), args.seconds, "--seconds")
    return Limits(cast("int | None", pages), cast("float | None", seconds), args.until_idle)


def _strategies_exist(config: Config, options_from: str) -> None:
    from evercrawl import catalog, importance
    from evercrawl.model.policy.policies import policy_of
    from evercrawl.model.policy.window_sizes import window_of

    policy_of(config.policy, config.policy_options, options_from)
    catalog.pick(importance, importance.Importance, config.importance)  # type: ignore[type-abstract]
    if config.window != values.AUTO:
        window_of(config.window)
