"""evercrawl reindex: the search index made anew from the archive."""

import argparse
import json
import sys

from evercrawl.cli import arguments, warm
from evercrawl.cli.show.meter import Meter
from evercrawl.cli.show.plain import fit, many

_MORE = (
    "The index is made from journal and archive, beside the one that is there, which serves until the new one is "
    "whole. A crawl keeps its index in step by itself; this is for one that was lost or damaged, or for a crawl that "
    "was begun with --no-index."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "reindex", "make the search index anew from the archive", run, _MORE)
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Make it, and say what is in it; exit code 1 where the content of some page could not be read."""
    from evercrawl.crawl.learn.reindex import reindex

    directory = arguments.directory(args)
    warm.before_reading("evercrawl.crawl.learn.reindex")
    with Meter(sys.stderr) as meter:
        made = reindex(directory, meter)
    if args.json:
        print(json.dumps({"pages": made.pages, "troubles": made.troubles}))
    else:
        lines = [f"left out: {trouble}" for trouble in made.troubles]
        lines.append(f"{many(made.pages, 'pages')} can be searched: evercrawl search WORDS --dir {directory}")
        print(fit("\n".join(lines), sys.stdout))
    return 1 if made.troubles else 0
