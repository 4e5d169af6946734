"""evercrawl verify: check that a crawl directory is consistent."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Final

from evercrawl.cli import arguments, warm, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.meter import Meter
from evercrawl.cli.show.plain import fit, many
from evercrawl.cli.show.repair import Repairing
from evercrawl.errors import ConfigError

if TYPE_CHECKING:
    from evercrawl.ask.verify.findings import Findings

_MORE = (
    "It replays the journal from its first event and compares the result with the snapshots, derived files and "
    "archive. The exit code is 1 if something is wrong. The crawl may be running; nothing is changed. With "
    "--repair it lists the repairs and carries them out after the answer `yes`, or with --yes. Intact data stays; "
    "removed data is kept in the folder `damaged`; losses are listed. Examples: `evercrawl verify`, `evercrawl "
    "verify --json --dir example`, `evercrawl verify --repair --dir example --from /mnt/copy`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "verify", "check that a crawl directory is consistent", run, _MORE)
    arguments.add_directory(parser)
    arguments.add_json(parser)
    parser.add_argument(
        "--repair", action="store_true", help="list the repairs, ask for confirmation, and carry them out"
    )
    parser.add_argument("--yes", action="store_true", help="with --repair: do not ask for confirmation")
    parser.add_argument(
        "--from", dest="backup", metavar="DIRECTORY", help="with --repair: backup from which to restore lost bytes"
    )
    parser.add_argument(
        "--cut", action="store_true", help="with --repair: cut the journal at the damage; the rest is kept in damaged"
    )


def run(args: argparse.Namespace) -> int:
    """Check the directory, and report what was checked and what is wrong."""
    from evercrawl.ask.verify.verify import verify

    directory = where.directory(args)
    if not args.repair and (args.yes or args.cut or args.backup):
        raise ConfigError("--yes, --from and --cut belong to --repair; add it")
    warm.before_reading("evercrawl.ask.verify.verify")
    with Meter(sys.stderr) as meter:
        found = verify(directory, meter)
        repaired = None
        if args.repair:
            repaired = Repairing(directory, args, meter, found)
            found = repaired.run()
    if args.json:
        print(json_line("verify", as_object(found) | ({} if repaired is None else {"repair": repaired.told()})))
    else:
        print(fit("\n".join(lines(found)), sys.stdout))
    return 0 if found.fine else 1


_IN_WORDS: Final = {
    "files beside": "auxiliary files",
    "letters": "messages",
    "cash in all": "total cash",
    "importance in sum, at most": "importance, summed over pages (upper bound)",
}
"""Names of counts and measures where the output for people has others than JSON, whose names stay."""


def as_object(found: Findings) -> dict[str, object]:
    """Return the counts and the errors as an object for JSON."""
    return {
        "fine": found.fine,
        "checked": dict(found.checked),
        "measured": dict(found.measured),
        "wrong": found.wrong,
        "unsaid": dict(found.unsaid),
        "mends": found.mends,
    }


def lines(found: Findings) -> list[str]:
    """Return the counts and the errors as lines of text."""
    said = [f"checked {many(count, _IN_WORDS.get(what, what))}" for what, count in found.checked.items()]
    said += [f"largest error of {_IN_WORDS.get(what, what)}: {off:.1e}" for what, off in found.measured.items()]
    said += [f"to be repaired at the next start: {sentence}" for sentence in found.mends]
    said += [f"WRONG: {sentence}" for sentence in found.wrong]
    said += [f"WRONG: {count:,} more of this kind: {kind}" for kind, count in found.unsaid.items()]
    count = len(found.wrong) + found.unsaid.total()
    return [
        *said,
        "the crawl directory is consistent" if found.fine else f"{many(count, 'problems')} found",
    ]
