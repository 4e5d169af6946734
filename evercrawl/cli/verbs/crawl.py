"""evercrawl crawl: start a crawl in a directory, or go on with the one that is there."""

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
    "Without SEED it goes on where it was; with SEED it also takes those up. It runs until stopped: Ctrl-C and SIGTERM "
    "end it cleanly, a second Ctrl-C at once, and neither a kill nor a crash loses what was acknowledged. `evercrawl "
    "policies` lists what --policy may be, and `evercrawl policies NAME` what may be set of one. Examples: `evercrawl "
    "crawl https://example.org/ --dir example`, `evercrawl crawl --dir example --pages 1000`, `evercrawl crawl --dir "
    "example --policy tianwang --policy-option capacity=500 --seconds 1h`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "crawl", "start a crawl, or go on with one", run, _MORE)
    parser.add_argument("seeds", metavar="SEED", nargs="*", help="URL to start from; @FILE: a file of them; -: stdin")
    arguments.add_directory(parser)
    parser.add_argument(
        "--pages", metavar="N", help="end after so many visits of this run; redirects, failures and refusals count"
    )
    parser.add_argument("--seconds", metavar="TIME", help="end after so long")
    parser.add_argument("--until-idle", action="store_true", help="end once nothing is left that was never fetched")
    parser.add_argument("--config", metavar="FILE", help="TOML file of settings, as crawl.toml, for this run")
    parser.add_argument("--quiet", action="store_true", help="show nothing but errors")
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
