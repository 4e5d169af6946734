"""evercrawl set: change a setting in crawl.toml, and in the running crawl."""

from __future__ import annotations

import argparse
from pathlib import Path

from evercrawl.cli import arguments
from evercrawl.cli import where as where_is
from evercrawl.cli.verbs.steering import ordering
from evercrawl.config import FILE_NAME, SETTINGS, Config, load
from evercrawl.config.section_keys import FORM, check_set, section_key, with_value
from evercrawl.config.settings import read
from evercrawl.config.sources import nearest
from evercrawl.errors import ConfigError

_MORE = (
    "The value is written to crawl.toml, where comments stay. A running crawl uses it from then on if it is one of "
    f"{', '.join(name for name, setting in SETTINGS.items() if setting.live)}, or a key of a section; others from its "
    f"next start on. {ordering.MORE} Examples: `evercrawl set rate_per_s 2 --wait`, `evercrawl set delay_s 5s --dir "
    "example`, `evercrawl set site.example.org.hours 22-6`, `evercrawl set 'target.\"/news/\".fresh' 95%`, "
    "`evercrawl set site.example.org.hours --unset`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "set", "change a setting of a crawl, even while it runs", run, _MORE)
    parser.add_argument("name", metavar="NAME", help=f"the setting, as crawl.toml names it, or {FORM}")
    parser.add_argument("values", metavar="VALUE", nargs="*", help="the new value; for a list, all entries")
    parser.add_argument("--unset", action="store_true", help="remove a key of a section, or a whole section")
    ordering.add_flags(parser)


def run(args: argparse.Namespace) -> int:
    """Give the order; invalid values are refused here."""
    from evercrawl.store.orders import CrawlOrder

    see_value(args, where_is.directory(args))
    return ordering.give(args, CrawlOrder("set", name=str(args.name), values=tuple(args.values), lift=args.unset))


def see_value(args: argparse.Namespace, directory: Path) -> None:
    """Check that the crawl in a directory may have the new setting.

    Raises
    ------
    ConfigError
        It may not.
    """
    name, given = str(args.name), tuple(args.values)
    if args.unset and given:
        raise ConfigError(f"--unset takes no value: evercrawl set {name} --unset")
    where = section_key(name)
    if where is None and args.unset:
        raise ConfigError(f"only a key of a section can be unset: {FORM}")
    if where is None:
        _check(name, given)
    else:
        file = directory / FILE_NAME
        config = load(file) if file.is_file() else Config()
        if args.unset:
            check_set(config, where)
        with_value(config, where, given, unset=args.unset)


def _check(name: str, given: tuple[str, ...]) -> None:
    """Check that a setting may have the value."""
    setting = SETTINGS.get(name)
    if setting is None:
        raise ConfigError(f"{name!r} is not a setting; {nearest(name)}")
    many = isinstance(setting.default, tuple)
    if not many and len(given) != 1:
        raise ConfigError(f"{name} takes one value: evercrawl set {name} VALUE")
    read(setting, list(given) if many else given[0], name)
