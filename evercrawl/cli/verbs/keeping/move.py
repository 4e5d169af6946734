"""evercrawl move, drain, rebalance: move one partition, all partitions off a machine, or some to balance machines."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final, cast

from evercrawl.cli import arguments, where
from evercrawl.cli.show.json_line import json_line
from evercrawl.cli.show.lines import size
from evercrawl.cli.show.plain import many
from evercrawl.config import values
from evercrawl.errors import ConfigError

_MORE = (
    "Most is copied while the partition runs; it pauses for the rest, and continues in its new directory. The old "
    "directory stays, and can be removed afterwards. In a crawl on machines of a cluster, which must run, a partition "
    "moves to a machine: give its address, or the id of its disk. "
    "Examples: `evercrawl move 2 /disk3/part-2 --dir wide`, `evercrawl move 0 /disk4/part-0 --dir wide --json`, "
    "`evercrawl move 5 10.0.0.7 --dir wide`."
)
_DRAIN: Final = (
    "Partitions and second copies go to other machines, one after the other; the crawl must run, with --cluster. The "
    "command says when the machine can be taken away. Until --lift the machine gets nothing new. If the command is "
    "interrupted, the crawl goes on emptying the machine, also after a restart. Examples: "
    "`evercrawl drain 10.0.0.7 --dir wide`, `evercrawl drain 10.0.0.7 --lift --dir wide`."
)
_SHARES: Final = (
    "Partitions move between machines, one after the other, until each machine has as many as its processors allow "
    "for; the crawl must run, with --cluster. The command returns once the crawl has the order; `evercrawl status` "
    "shows the moves. A machine that joins gets its share without this command, unless the setting `rebalance` is "
    "false. Examples: `evercrawl rebalance --dir wide`, `evercrawl rebalance --dir wide --json`."
)


def add(verbs: arguments.Verbs) -> None:
    """Declare the verb."""
    parser = arguments.add_verb(verbs, "move", "move a partition to another directory or machine", run, _MORE)
    parser.add_argument("part", metavar="PARTITION", help="its number, from 0")
    parser.add_argument(
        "goal", metavar="DIRECTORY", help="new or empty, in a folder that exists; in a crawl on a cluster, a machine"
    )
    arguments.add_directory(parser)
    arguments.add_json(parser)
    parser = arguments.add_verb(verbs, "drain", "move everything off a machine of a cluster", run_drain, _DRAIN)
    parser.add_argument("machine", metavar="MACHINE", help="its address, or the id of its disk")
    parser.add_argument("--lift", action="store_true", help="let the machine have partitions and copies again")
    arguments.add_directory(parser)
    arguments.add_json(parser)
    parser = arguments.add_verb(verbs, "rebalance", "give each machine its share of the partitions", run_drain, _SHARES)
    arguments.add_directory(parser)
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Refuse: a crawl without partitions has none to move."""
    raise ConfigError(f"the crawl in {_crawl(args)} has no partitions; move its directory while it is stopped")


def run_drain(args: argparse.Namespace) -> int:
    """Refuse: a crawl without partitions is not on several machines."""
    raise ConfigError(f"the crawl in {_crawl(args)} has no partitions; only a crawl on a cluster has machines")


def _crawl(args: argparse.Namespace) -> Path:
    """Return the directory of the crawl, after seeing that there is one."""
    from evercrawl.model.stored.reader import see_crawl

    directory = where.directory(args)
    see_crawl(directory)
    return directory


def run_parted(args: argparse.Namespace, directory: Path) -> int:
    """Move the partition, and report the result."""
    from evercrawl.cluster.birth import part_directories, read_birth
    from evercrawl.cluster.moving.folder_transfer import move_part

    number = cast("int", arguments.value(values.whole(0), args.part, "PARTITION"))
    if read_birth(directory).places:
        return _to_machine(args, directory, number)
    before = part_directories(directory)[number : number + 1]
    moved = move_part(directory, number, Path(args.goal), lambda said: print(f"evercrawl: {said}", file=sys.stderr))
    if args.json:
        row = {"number": number, "from": str(before[0]), "to": moved.goal}
        print(json_line("moved", {**row, "copied_bytes": moved.copied_bytes, "pause_s": round(moved.pause_s, 3)}))
    elif str(before[0]) == moved.goal:
        print(f"partition {number} is in {moved.goal} already")
    else:
        print(
            f"partition {number} is in {moved.goal}: {size(moved.copied_bytes)} copied, paused {moved.pause_s:.1f} s; "
            f"{before[0]} can be removed"
        )
    return 0


def _to_machine(args: argparse.Namespace, directory: Path, number: int) -> int:
    """Move it to another machine, and say what was done."""
    from evercrawl.cluster.hauling.machine_orders import move_to

    moved = move_to(directory, number, args.goal, lambda said: print(f"evercrawl: {said}", file=sys.stderr))
    if args.json:
        row = {"number": number, "from": moved.source, "to": moved.goal}
        print(json_line("moved", {**row, "copied_bytes": moved.copied_bytes, "pause_s": round(moved.pause_s, 3)}))
    else:
        print(
            f"partition {number} is on the disk {moved.goal}: {size(moved.copied_bytes)} copied, paused "
            f"{moved.pause_s:.1f} s; its old directory on the disk {moved.source} is soon called "
            f"part-{number}-before-LIFE, and can be removed then"
        )
    return 0


def drain_parted(args: argparse.Namespace, directory: Path) -> int:
    """Empty a machine, and say when it is."""
    from evercrawl.cluster.hauling.machine_orders import OnDisk, drain, emptied, on_disk

    def tell(left: OnDisk) -> None:
        print(f"evercrawl: the disk {disk} still has {left}", file=sys.stderr)

    disk = drain(directory, args.machine, lift=args.lift)
    left = on_disk(directory, disk) if args.lift else emptied(directory, disk, tell)
    if args.json:
        print(json_line("drained", {"disk": disk, "empty": left.empty, "lifted": args.lift, **left._asdict()}))
    elif args.lift:
        print(f"the machine of the disk {disk} may have partitions and second copies again")
    elif left.empty:
        print(f"the machine of the disk {disk} has nothing any more that the crawl needs, and can be taken away")
    else:
        print(f"the machine of the disk {disk} is no longer to be emptied; it has {left}")
    return 0


def rebalance_parted(args: argparse.Namespace, directory: Path) -> int:
    """Order that each machine gets its share, and print how many partitions move."""
    from evercrawl.cluster.hauling.machine_orders import rebalance

    count = rebalance(directory)
    if args.json:
        print(json_line("rebalanced", {"partitions": count}))
    elif count:
        print(f"{many(count, 'partitions')} will move, one after the other, while the crawl runs")
    else:
        print("each machine has its share of the partitions; nothing has to move")
    return 0
