"""evercrawl set: change a setting in crawl.toml, and in the running crawl."""

from __future__ import annotations

import argparse
import difflib

from evercrawl.cli import arguments
from evercrawl.cli.steering import ordering
from evercrawl.config import SETTINGS
from evercrawl.config.settings import read
from evercrawl.errors import ConfigError

_MORE = (
    "The value is written to crawl.toml, where comments stay. A running crawl uses it from then on if it is one of "
    f"{', '.join(name for name, setting in SETTINGS.items() if setting.live)}; others from its next start on. "
    f"{ordering.MORE} Examples: `evercrawl set rate_per_s 2 --wait`, `evercrawl set delay_s 5s --dir example`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "set", "change a setting of a crawl, also while it runs", run, _MORE)
    parser.add_argument("name", metavar="NAME", help="the setting, as crawl.toml names it")
    parser.add_argument("values", metavar="VALUE", nargs="*", help="its value; of a list, all entries")
    ordering.add_flags(parser)


def run(args: argparse.Namespace) -> int:
    """Give the order; what cannot be a value is refused here."""
    from evercrawl.store.orders import CrawlOrder

    setting = SETTINGS.get(args.name)
    if setting is None:
        near = difflib.get_close_matches(str(args.name), list(SETTINGS), 1)
        hint = f"did you mean {near[0]}?" if near else "docs/guide/SETTINGS.md lists them"
        raise ConfigError(f"{args.name!r} is not a setting; {hint}")
    many = isinstance(setting.default, tuple)
    if not many and len(args.values) != 1:
        raise ConfigError(f"{args.name} takes one value: evercrawl set {args.name} VALUE")
    read(setting, args.values if many else args.values[0], args.name)
    return ordering.give(args, CrawlOrder("set", name=args.name, values=tuple(args.values)))
