"""evercrawl crawl: start a crawl in a directory, or resume the one there."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from evercrawl.cli import arguments, running, seeds, warm
from evercrawl.cli.show import live
from evercrawl.config import FILE_NAME, Config, load, source_of, values
from evercrawl.errors import ConfigError
from evercrawl.progress import Limits

if TYPE_CHECKING:
    from evercrawl.cli.show.lines import Watcher

_MORE = (
    "Without SEED, the crawl in --dir resumes; with SEED, the seeds are added to it. By default the crawl stays on "
    "the seeds' hosts. It runs until it is stopped: Ctrl-C and SIGTERM end it cleanly, a second Ctrl-C at once. A "
    "killed crawl resumes without losing acknowledged pages. `evercrawl policies` lists the values of --policy, and "
    "`evercrawl policies NAME` the parameters of one. Examples: `evercrawl crawl https://example.org/ --dir example`, "
    "`evercrawl crawl --dir example --pages 1000`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "crawl", "start or resume a crawl", run, _MORE)
    parser.add_argument(
        "seeds",
        metavar="SEED",
        nargs="*",
        help="URL to start from; @FILE reads a list from a file, - from standard input",
    )
    arguments.add_directory(parser)
    parser.add_argument("--pages", metavar="N", help="stop after N visits; redirects, failed visits and refusals count")
    parser.add_argument("--seconds", metavar="TIME", help="stop after this time, such as 90, 30s, 10m or 1h")
    parser.add_argument("--until-idle", action="store_true", help="stop when no unread page is left")
    parser.add_argument(
        "--config", metavar="FILE", help="TOML file of settings for this run, in the format of crawl.toml"
    )
    parser.add_argument("--quiet", action="store_true", help="print errors only")
    arguments.add_json(parser)
    arguments.add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """Crawl until an end is reached or somebody stops it."""
    running.obey_from_now()
    directory = arguments.directory(args)
    urls = seeds.read_seeds(args.seeds, sys.stdin)
    config = configured(args, directory)
    limits = limited(args)
    with live.watcher(as_json=args.json, quiet=args.quiet) as watch:
        crawl(directory, config, urls, limits, watch)
    return 0


def crawl(directory: Path, config: Config, urls: list[str], limits: Limits, watch: Watcher) -> None:
    """Run the engine, obeying signals, and let `watch` have the last word."""
    from evercrawl.store.disk.lock import lock_for_crawl

    if not urls and not directory.is_dir():  # a mistyped name must not leave a directory behind
        raise ConfigError(f"there is no crawl in {directory}; name a seed: evercrawl crawl URL --dir {directory}")
    with lock_for_crawl(directory) as lock:  # before the engine is loaded, so that a second process hears at once
        from evercrawl import crawl as engine

        warm.up(watch)
        watch.finish(
            running.until_stopped(
                lambda stop: engine.crawl(
                    directory, config, urls, limits, watch=live.heard(watch, stop), stop=stop, lock=lock
                )
            )
        )


def configured(args: argparse.Namespace, directory: Path) -> Config:
    """Return the configuration of this run: the crawl's own file, --config, the environment, flags.

    Raises
    ------
    ConfigError
        When one of them is wrong, or names a strategy that does not exist.
    """
    files = [directory / FILE_NAME] if (directory / FILE_NAME).is_file() else []
    files += [Path(args.config)] if args.config is not None else []
    flags = arguments.given_settings(args)
    config = load(*files, environ=os.environ, flags=flags)
    source = source_of("policy_options", *files, environ=os.environ, flags=flags)
    _strategies_exist(config, "" if "policy_options" in flags else source)
    return config


def limited(args: argparse.Namespace) -> Limits:
    """Return what ends this run."""
    pages = None if args.pages is None else arguments.value(values.whole(1), args.pages, "--pages")
    seconds = None if args.seconds is None else arguments.value(values.duration(), args.seconds, "--seconds")
    return Limits(cast("int | None", pages), cast("float | None", seconds), args.until_idle)


def _strategies_exist(config: Config, options_from: str) -> None:
    from evercrawl import catalog, importance
    from evercrawl.importance import windows
    from evercrawl.model.policy.policies import policy_of

    policy_of(config.policy, config.policy_options, options_from)
    catalog.pick(importance, importance.Importance, config.importance)  # type: ignore[type-abstract]
    if config.window != values.AUTO:
        catalog.pick(windows, windows.Window, config.window)  # type: ignore[type-abstract]
