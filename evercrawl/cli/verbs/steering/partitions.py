"""Orders that change settings of a partitioned crawl: first crawl.toml is changed, then each partition gets them."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evercrawl.cli.show.plain import fit, hand_on
from evercrawl.cli.verbs.steering import ordering
from evercrawl.cli.verbs.steering.moving import once_placed
from evercrawl.config import FILE_NAME, SETTINGS, amend, load
from evercrawl.config.section_keys import section_key, with_value
from evercrawl.config.settings import read
from evercrawl.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from evercrawl.config import Config
    from evercrawl.store.orders import CrawlOrder


def rule(args: argparse.Namespace, directory: Path, parts: list[Path]) -> int:
    """Add or lift a scope rule in all partitions; return the exit code."""
    from evercrawl.store.orders import CrawlOrder

    name, wanted = str(args.verb), ordering.pattern(args)
    there: tuple[str, ...] = getattr(load(directory / FILE_NAME), name)
    if args.lift and wanted not in there:
        known = ", ".join(map(repr, there)) or "none"
        raise ConfigError(f"{name} in {directory / FILE_NAME} has no {wanted!r} to lift; it has {known}")
    others = tuple(each for each in there if each != wanted)
    amend(directory, {name: others if args.lift else (*others, wanted)})
    order = CrawlOrder(name, pattern=wanted, lift=args.lift)
    words = [name, wanted, *(["--lift"] if args.lift else [])]
    return _to_all(args, directory, parts, [(order, words)] * len(parts))


def setting(args: argparse.Namespace, directory: Path, parts: list[Path]) -> int:
    """Change a setting in all partitions, each of which gets its share of limits; return the exit code.

    Raises
    ------
    ConfigError
        The crawl cannot have this value, or a partitioned crawl cannot.
    """
    from evercrawl.cli.verbs.steering.set import see_value
    from evercrawl.cluster.birth import check_settings
    from evercrawl.cluster.shares import SHARED, part_config
    from evercrawl.store.orders import CrawlOrder

    see_value(args, directory)
    name, given, now = str(args.name), tuple(args.values), load(directory / FILE_NAME)
    changed = _changed(now, name, given, unset=args.unset)
    wanted = replace(now, **changed)
    check_settings(wanted, directory, None)
    amend(directory, changed)
    orders = list[tuple[CrawlOrder, list[str]]]()
    for number in range(len(parts)):
        own = given
        if name in SHARED:
            own = (str(getattr(part_config(wanted, number, len(parts)), name)),)
        order = CrawlOrder("set", name=name, values=own, lift=args.unset)
        orders.append((order, ["set", name, *(["--unset"] if args.unset else own)]))
    return _to_all(args, directory, parts, orders)


def _changed(now: Config, name: str, given: tuple[str, ...], *, unset: bool) -> dict[str, Any]:
    """Return the changed settings, with their values."""
    if (where := section_key(name)) is not None:
        return with_value(now, where, given, unset=unset)
    many = isinstance(SETTINGS[name].default, tuple)
    return {name: read(SETTINGS[name], list(given) if many else given[0], name)}


class _SilentError(Exception):
    """A partition of another machine does not answer."""


def _to_all(
    args: argparse.Namespace, directory: Path, parts: list[Path], orders: list[tuple[CrawlOrder, list[str]]]
) -> int:
    """Give each partition its order, as a command on its machine; return the exit code.

    A partition that is not running reads its settings from crawl.toml at its next start.
    """
    from evercrawl.cluster.birth import part_directories
    from evercrawl.cluster.questions import PartAnswers, is_afar, verb_afar

    found = PartAnswers[int]()
    for number, (part, (order, words)) in enumerate(zip(parts, orders, strict=True)):
        if not args.json:
            print(fit(f"{part.name}: ", sys.stdout), end="", flush=True)

        def given(number: int = number, order: CrawlOrder = order, words: list[str] = words) -> int:
            if not is_afar(directory, number):
                here = str(part_directories(directory)[number])  # anew: it may have been moved meanwhile
                return ordering.give(argparse.Namespace(**{**vars(args), "dir": here}), order)
            more = [*(["--wait", args.wait] if args.wait is not None else []), *(["--json"] if args.json else [])]
            try:
                answer = verb_afar(directory, number, [words[0], *more, "--", *words[1:]])
            except StoreError as trouble:
                raise _SilentError(str(trouble)) from trouble
            hand_on(answer.out, answer.err)
            return answer.code

        try:
            found.answers[number] = once_placed(given)
        except _SilentError as trouble:
            found.troubles[number] = str(trouble)
            if not args.json:
                print("does not answer")
    if found.note:
        print(fit(f"evercrawl: {found.note}", sys.stderr), file=sys.stderr)
    return max([*found.answers.values(), int(bool(found.troubles))])
