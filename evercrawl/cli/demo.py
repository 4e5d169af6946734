"""evercrawl demo: crawl a small made-up web that is served on this machine."""

from __future__ import annotations

import json
import tempfile
from typing import TYPE_CHECKING, cast

from evercrawl.cli import arguments, live, running, warm
from evercrawl.config import Config, values
from evercrawl.progress import Limits

if TYPE_CHECKING:
    import argparse
    import asyncio
    from pathlib import Path

    from evercrawl.cli.live import Watcher
    from evercrawl.progress import Summary

_MORE = "Four hosts on loopback addresses; some of their pages change, move, are gone, are copies or are off limits."


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "demo", "crawl a small made-up web on this machine", run, _MORE)
    parser.add_argument("--dir", metavar="DIR", help="crawl directory (default: a new one in the temporary folder)")
    parser.add_argument("--seconds", metavar="TIME", default="15s", help="end after so long (default: 15s)")
    parser.add_argument("--pages", metavar="N", default="30", help="pages of each host (default: 30)")
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Serve, crawl, and say where to look."""
    running.obey_from_now()
    seconds = cast("float", arguments.value(values.duration(0.001), args.seconds, "--seconds"))
    pages = cast("int", arguments.value(values.whole(1), args.pages, "--pages"))
    if args.dir is None:
        args.dir = tempfile.mkdtemp(prefix="evercrawl-demo-")
    directory = arguments.directory(args)
    with live.watcher(as_json=args.json, quiet=False) as watch:
        warm.up(watch)
        watch.finish(running.until_stopped(lambda stop: _crawl(directory, pages, Limits(seconds=seconds), watch, stop)))
    _tell(directory, as_json=args.json)
    return 0


async def _crawl(directory: Path, pages: int, limits: Limits, watch: Watcher, stop: asyncio.Event) -> Summary:
    from evercrawl import crawl as engine
    from evercrawl.simulate.loopback import NETWORK, Loopback

    config = Config(delay_s=0.05, refresh_after_s=2.0, allow_net=(NETWORK,))
    async with Loopback(pages=pages) as server:
        return await engine.crawl(directory, config, server.seeds, limits, watch=live.heard(watch, stop), stop=stop)


def _tell(directory: Path, *, as_json: bool) -> None:
    archives = sorted(str(path) for path in directory.rglob("*.warc.gz"))
    if as_json:
        print(json.dumps({"event": "demo", "dir": str(directory), "archives": archives}))
        return
    if not archives:
        print(f"The crawl is in {directory}; the run was too short to store a page.")
        return
    print(f"The crawl is in {directory}, the pages as the servers sent them in:")
    print("\n".join(f"  {path}" for path in archives))
