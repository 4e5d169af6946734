"""evercrawl lab policies: list the policies, and document their parameters."""

from __future__ import annotations

import argparse
import sys
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from evercrawl.cli import arguments
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.plain import fit
from evercrawl.cli.show.words import table

if TYPE_CHECKING:
    from evercrawl.ask.policies.docs import Described

_MORE: Final = (
    "A policy decides which page is visited next: `evercrawl crawl URL --policy NAME`. With NAME, it documents the "
    "policy's parameters (--policy-option) and the tables it keeps (`evercrawl export`). docs/guide/POLICIES.md "
    "compares the policies; docs/guide/POLICY_OPTIONS.md documents them all. Examples: `evercrawl lab policies`, "
    "`evercrawl lab policies tianwang`."
)
_LEFT: Final = frozenset({"policy", "what it does"})
_WIDTH: Final = 96
_INDENT: Final = "    "


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "policies", "list the policies, or document one", run, _MORE, lab=True)
    parser.add_argument("name", metavar="NAME", nargs="?", help="the policy, such as tianwang (default: list them)")
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """List the policies, or document one."""
    from evercrawl.ask.policies.docs import described
    from evercrawl.model.policy.policies import kind_of, names

    found = [described(name, kind_of(name)) for name in ([args.name] if args.name else names())]
    if args.json:
        lines = [json_line("policy", each.as_json()) for each in found]
    elif args.name:
        lines = _all_of(found[0])
    else:
        lines = table(("policy", "what it does"), [(each.name, each.promise) for each in found], _LEFT)
    print(fit("\n".join(lines), sys.stdout))
    return 0


def _all_of(found: Described) -> list[str]:
    lines = [*wrap(f"{found.name}: {found.promise}", _WIDTH), "", "parameters" if found.options else "no parameters"]
    for option in found.options:
        lines += [f"  {option.name}={option.default}", *_indented(option.meaning)]
    for each in found.tables:
        lines += ["", *wrap(f"policy.{each.name}: {each.meaning}", _WIDTH)]
        for column in each.columns:
            lines += [f"  {column.name} ({column.unit})", *_indented(column.meaning)]
    return lines


def _indented(text: str) -> list[str]:
    return wrap(text, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
