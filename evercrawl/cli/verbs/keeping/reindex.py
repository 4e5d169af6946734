"""evercrawl reindex: rebuild the search index from the archive."""

import argparse
import sys

from evercrawl.cli import arguments, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.meter import Meter
from evercrawl.cli.show.plain import fit, many

_MORE = (
    "A crawl keeps its search index up to date; use this when the index was lost or damaged, or when the crawl was "
    "started with --no-index. The old index serves searches until the new one is complete. Stop the crawl first. "
    "Examples: `evercrawl reindex`, `evercrawl reindex --dir example --json`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "reindex", "rebuild the search index from the archive", run, _MORE)
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Rebuild the index, and report its content; exit code 1 if the content of some page could not be read."""
    from evercrawl.crawl.learn.reindex import reindex

    directory = where.directory(args)
    warm.before_reading("evercrawl.crawl.learn.reindex")
    with Meter(sys.stderr) as meter:
        made = reindex(directory, meter)
    if args.json:
        print(json_line("end", {"pages": made.pages, "troubles": made.troubles}))
    else:
        lines = [f"left out: {trouble}" for trouble in made.troubles]
        lines.append(f"{many(made.pages, 'pages')} can be searched: evercrawl search WORDS --dir {directory}")
        print(fit("\n".join(lines), sys.stdout))
    return 1 if made.troubles else 0
