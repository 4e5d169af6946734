"""kill -9 of commands that keep a crawl, before each of their calls that change files, or in the middle of a write.

    python bench/killed.py [--rounds 20] [--commands repair,backup,move] [--resume killed.jsonl]

Two crawls are made on loopback, one of them in two partitions. Each command runs on copies of their directories, in a
process whose calls to the system are counted (`killed_calls.c`, loaded before the C library, so that calls of SQLite
and of the search index count too). It is killed at calls spread over the whole run, every second time after half of a
write. Then `verify` has to find nothing wrong (after a repair: nothing that was not damaged before); the same command
again has to succeed; `verify` has to find nothing wrong; and no event or record of the archive may be missing.

| command | what is done |
|---|---|
| backup | the first backup of a crawl |
| again | the second one, after the crawl has gone on |
| forgotten | the second one, after a host was forgotten |
| parted | the second one of all partitions of a crawl |
| upgrade | the kept directory of an older format becomes a current one |
| reindex | the search index is built anew |
| move | a partition moves to another directory |
| repair | `verify --repair` of damage to archive, settings and derived files |
| cut | `verify --repair --cut` of a damaged journal |
| restore | `verify --repair --from BACKUP` of a damaged journal and archive |
| index | `verify --repair` of a damaged search index |

With --resume, rounds that were sound are kept in a file, and left out by the same code.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from drills import Served

from evercrawl.cli.main import main as evercrawl
from evercrawl.cluster.birth import part_directories
from evercrawl.errors import EvercrawlError
from evercrawl.lab.kept_runs import KeptRuns, fingerprint
from evercrawl.store.archive.warc_read import walk
from evercrawl.store.birth import UNFINISHED
from evercrawl.store.disk.disk import RealDisk
from evercrawl.store.journal.journal import Journal

LIBRARY = "DRILLED_CALLS"
OLD = Path(__file__).parents[1] / "tests" / "store" / "data" / "version8"
MADE_UP = "cash:"
"""How `verify` begins about the kept directory, whose amounts were made up."""


@dataclass
class Told:
    """What a command came to: its exit code, -9 if it was killed; what it printed; how many calls changed files."""

    code: int
    text: str
    calls: int


@dataclass
class Drill:
    """One command.

    Attributes
    ----------
    make
        Makes the directories in an empty folder.
    words
        Returns the command there.
    crawls
        The directories, within the folder, that `verify` has to find sound after the kill and in the end.
    source
        The directory whose events and records have to be in `result` at the end.
    result
        Where they have to be.
    damaged
        Whether `verify` finds something wrong before.
    """

    make: Callable[[Path], None]
    words: Callable[[Path], list[str]]
    crawls: tuple[str, ...] = ("crawl",)
    source: str = "crawl"
    result: str = "crawl"
    damaged: bool = False


def ran(words: list[str], folder: Path, kill_at: int = -1, *, torn: bool = False) -> Told:
    """Run a command in a forked process; kill it at a call, if asked."""
    out, pipe = folder / "out.txt", os.pipe()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
            os.dup2(1, 2)
            calls = ctypes.CDLL(os.environ[LIBRARY])
            calls.drill_arm(ctypes.c_long(kill_at), int(torn))
            code = evercrawl(words)
            sys.stdout.flush()
            os.write(pipe[1], str(calls.drill_calls()).encode())
        finally:
            os._exit(code)
    os.close(pipe[1])
    status = os.waitpid(child, 0)[1]
    count = os.read(pipe[0], 32)
    os.close(pipe[0])
    code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    return Told(code, out.read_text(errors="replace"), int(count or 0))


def wrong_in(directory: Path, folder: Path) -> list[str]:
    """Return what `verify` finds wrong."""
    told, found = ran(["verify", "--json", "--dir", str(directory)], folder), list[str]()
    for line in told.text.splitlines():
        row = json.loads(line) if line.startswith("{") else {"wrong": [line]}
        found += [f"{row.get('of', '')} {each}" for each in row.get("wrong", []) if not each.startswith(MADE_UP)]
    return found


def events_of(directory: Path) -> list[bytes]:
    """Return the hash of each event of a journal, with that of the bytes of the archive that it names."""
    from evercrawl.store.requisites.losing import record_of

    disk = RealDisk(directory, read_only=True)
    try:
        found, names = list[bytes](), {int(n[-13:-8]): n for n in disk.names("archive/") if n.endswith(".warc.gz")}
        for _, _, event in Journal.open(disk, writable=False).replay():
            one, where = hashlib.blake2b(repr(event).encode(), digest_size=16), record_of(event)
            if where is not None:
                one.update(disk.read(names.get(where.segment, ""), where.offset, where.length) if names else b"")
            found.append(one.digest())
        return found
    finally:
        disk.close()


def records_of(directory: Path) -> Counter[bytes]:
    """Return the hashes of all intact records of archive and `damaged`, but those that fill a damaged place."""
    disk, found = RealDisk(directory, read_only=True), Counter[bytes]()
    try:
        for folder in ("archive/", "damaged/"):
            for name in [name for name in disk.names(folder) if name.endswith(".warc.gz")]:
                try:
                    for one in walk(disk, name):
                        if not one.record.damaged and b"damaged bytes were here" not in one.record.block[:200]:
                            data = disk.read(name, one.offset, one.length)
                            found[hashlib.blake2b(data, digest_size=16).digest()] += 1
                except EvercrawlError:
                    continue
    finally:
        disk.close()
    return found


def parts_of(directory: Path) -> list[Path]:
    """Return the directories of the partitions; of a crawl that has none, its own."""
    return part_directories(directory) if (directory / "cluster.json").exists() else [directory]


def lost(drill: Drill, before: list[list[bytes]], whole: Path, folder: Path) -> list[str]:
    """Return what is missing in the end, against the same directory before, and where nothing was killed."""
    wrong = list[str]()
    for number, part in enumerate(parts_of(folder / drill.result)):
        events = events_of(part)
        if not drill.damaged and events[: len(before[number])] != before[number]:
            wrong.append(f"events differ: {len(events)} are there, {len(before[number])} were")
        if drill.damaged:
            unkilled = parts_of(whole / drill.result)[number]
            if len(events) < len(events_of(unkilled)):
                wrong.append(f"{len(events)} events, and without a kill {len(events_of(unkilled))}")
            if missing := records_of(unkilled).keys() - records_of(part).keys():
                wrong.append(f"{len(missing)} records are missing")
            wrong += [f"no byte of {name} is left" for name in kept_away(unkilled) - kept_away(part)]
    return wrong


def kept_away(directory: Path) -> set[bytes]:
    """Return the hashes of the files in the folder `damaged`."""
    files = (directory / "damaged").glob("*")
    return {hashlib.blake2b(file.read_bytes(), digest_size=16).digest() for file in files if file.suffix != ".sqlite"}


def one_round(drill: Drill, whole: Path, made: Path, folder: Path, kill_at: int, *, torn: bool) -> list[str]:
    """Kill once, look, run again, and look."""
    shutil.copytree(made, folder, symlinks=True)
    before = [] if drill.damaged else [events_of(part) for part in parts_of(folder / drill.source)]
    told = ran(drill.words(folder), folder, kill_at, torn=torn)
    if told.code != -signal.SIGKILL:
        return [f"it was not killed: {told.code} {told.text[-300:]}"] if told.code else []
    wrong = list[str]()
    for name in drill.crawls:
        if drill.damaged or not (folder / name).exists() or (folder / name / UNFINISHED).exists():
            continue
        if not any(file.is_file() and file.name != "lock" for file in (folder / name).rglob("*")):
            continue  # a target in which nothing is yet
        wrong += [f"after the kill, in {name}: {each}" for each in wrong_in(folder / name, folder)]
    again = ran(drill.words(folder), folder)
    if again.code:
        wrong.append(f"the same command again: exit code {again.code}: {again.text[-400:]}")
    for name in drill.crawls:
        wrong += [f"in the end, in {name}: {each}" for each in wrong_in(folder / name, folder)]
    return wrong or lost(drill, before, whole, folder)


def run(name: str, drill: Drill, rounds: int, folder: Path, kept: KeptRuns | None, after: float = 0.0) -> bool:
    """Make all rounds of a command; return whether all were sound."""
    began, made, whole, bad, old = time.monotonic(), folder / f"{name}-made", folder / f"{name}-whole", 0, 0
    made.mkdir()
    drill.make(made)
    shutil.copytree(made, whole, symlinks=True)
    ran(drill.words(shutil.copytree(made, folder / f"{name}-first", symlinks=True)), folder)  # compiles what it needs
    told = ran(drill.words(whole), whole)
    if told.code:
        print(f"{name}: without a kill, exit code {told.code}: {told.text[-2000:]}", flush=True)
        return False
    for number in range(rounds):
        first = int(after * told.calls)
        kill_at, torn = first + number * (told.calls - first) // rounds, number % 2 == 1
        label = f"{name} {kill_at} of {told.calls}{' torn' if torn else ''}"
        if kept is not None and kept.row(label) is not None:
            old += 1
            continue
        place = folder / f"{name}-{number}"
        wrong = one_round(drill, whole, made, place, kill_at, torn=torn)
        if wrong:
            bad += 1
            print(f"{label}: {'; '.join(wrong[:4])}", flush=True)
        elif kept is not None:
            kept.keep(label, {"sound": 1})
        if not wrong or bad > 3:
            shutil.rmtree(place)
    took_s = time.monotonic() - began
    print(
        f"{'met   ' if not bad else 'MISSED'}  {name}: {rounds} kills within {told.calls} calls ({old} from before), "
        f"{bad} of them with something lost or wrong; {took_s:.0f} s",
        flush=True,
    )
    return not bad


def crawled(folder: Path) -> Path:
    """Make the crawls: `early` and `late` are one crawl at two times, `wide-early` and `wide-late` another."""
    web = Served(folder, 10, 6)

    def crawl(name: str, *more: str) -> None:
        command = [
            sys.executable, "-m", "evercrawl", "crawl", web.server.seed, "--dir", str(folder / name), "--scope", "any",
            "--delay", "0.02", "--allow-net", web.network, "--resolve", str(web.names), "--workers", "0", "--quiet",
            "--contact", "me@example.org", "--snapshot-every", "2", *more,
        ]  # fmt: skip
        subprocess.run(command, check=True, env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})

    for name, more in (("", ()), ("wide-", ("--partitions", "2"))):
        crawl(f"{name}early", "--pages", "25", *more)
        shutil.copytree(folder / f"{name}early", folder / f"{name}late")
        crawl(f"{name}late", "--until-idle", *more)
    return folder


def flip(path: Path, *places: float) -> None:
    """Damage a file at some places."""
    data = bytearray(path.read_bytes())
    for place in places:
        at = int(len(data) * place)
        data[at : at + 4] = bytes(byte ^ 0x55 for byte in data[at : at + 4])
    path.write_bytes(bytes(data))


def drills(crawls: Path) -> dict[str, Drill]:
    """Return all drills, on directories that were made."""

    def copied(**named: str) -> Callable[[Path], None]:
        return lambda folder: [shutil.copytree(crawls / one, folder / name) for name, one in named.items()] and None

    def backed_up(folder: Path, early: str, late: str) -> None:
        copied(early=early)(folder)
        assert ran(["backup", str(folder / "copy"), "--dir", str(folder / "early")], folder).code == 0
        shutil.rmtree(folder / "early")
        copied(crawl=late)(folder)

    def forgotten(folder: Path) -> None:
        backed_up(folder, "early", "late")
        told = ran(["forget", "www.site1.org", "--yes", "--dir", str(folder / "crawl")], folder)
        assert told.code == 0, told.text

    def damaged(folder: Path, *kinds: str, backup: bool = False) -> None:
        backed_up(folder, "early", "late")
        if backup:
            assert ran(["backup", str(folder / "copy"), "--dir", str(folder / "crawl")], folder).code == 0
        for kind in kinds:
            flip(sorted((folder / "crawl").glob(kind))[0], 0.4, 0.6)

    def repair(*more: str) -> Callable[[Path], list[str]]:
        return lambda folder: [
            "verify", "--repair", "--yes", "--dir", str(folder / "crawl"),
            *(each.replace("COPY", str(folder / "copy")) for each in more),
        ]  # fmt: skip

    def onto(name: str) -> Callable[[Path], list[str]]:
        return lambda folder: ["backup", str(folder / name), "--dir", str(folder / "crawl")]

    both = ("crawl", "copy")
    return {
        "backup": Drill(copied(crawl="late"), onto("copy"), both, result="copy"),
        "again": Drill(lambda folder: backed_up(folder, "early", "late"), onto("copy"), both, result="copy"),
        "forgotten": Drill(forgotten, onto("copy"), both, result="copy"),
        "parted": Drill(lambda folder: backed_up(folder, "wide-early", "wide-late"), onto("copy"), both, result="copy"),
        "upgrade": Drill(
            lambda folder: shutil.copytree(OLD, folder / "crawl") and None,
            lambda folder: ["upgrade", "--dir", str(folder / "crawl")],
        ),
        "reindex": Drill(copied(crawl="late"), lambda folder: ["reindex", "--dir", str(folder / "crawl")]),
        "move": Drill(
            copied(crawl="wide-late"),
            lambda folder: ["move", "1", str(folder / "part"), "--dir", str(folder / "crawl")],
        ),
        "repair": Drill(
            lambda folder: damaged(folder, "archive/*.warc.gz", "known.bin", "crawl.toml"), repair(), damaged=True
        ),
        "cut": Drill(lambda folder: damaged(folder, "journal-*", "snapshot-*"), repair("--cut"), damaged=True),
        "restore": Drill(
            lambda folder: damaged(folder, "journal-*", "archive/*.warc.gz", "crawl.json", backup=True),
            repair("--from", "COPY"),
            damaged=True,
        ),
        "index": Drill(lambda folder: damaged(folder, "search/pages/*.fast"), repair(), damaged=True),
    }


def main() -> int:
    """Load the library that counts calls, and run the drills in it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--commands", default="")
    parser.add_argument("--after", type=float, default=0.0, help="share of the calls before the first kill")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="where sound rounds are kept")
    parser.add_argument("--crawls", type=Path, metavar="FOLDER", help="where the crawls are, or are to be kept")
    args = parser.parse_args()
    if LIBRARY not in os.environ:
        with tempfile.TemporaryDirectory() as folder:
            library, source = Path(folder) / "calls.so", Path(__file__).with_name("killed_calls.c")
            subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(source), "-ldl"], check=True)
            env = {**os.environ, LIBRARY: str(library), "LD_PRELOAD": str(library)}
            return subprocess.run([sys.executable, *sys.argv], env=env, check=False).returncode
    kept = (
        None if args.resume is None else KeptRuns(args.resume, fingerprint(("ask", "cli", "cluster", "crawl", "store")))
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        crawls = args.crawls or folder / "crawls"
        if not (crawls / "wide-late").exists():
            crawls.mkdir(parents=True, exist_ok=True)
            code = (
                "import sys; sys.path.insert(0, sys.argv[1]); import killed; killed.crawled(killed.Path(sys.argv[2]))"
            )
            made = [sys.executable, "-c", code, str(Path(__file__).parent), str(crawls)]
            subprocess.run(made, check=True)  # another process, because a fork of one with threads might hang
        every = drills(crawls)
        chosen = args.commands.split(",") if args.commands else [*every]
        bad = [each for each in chosen if not run(each, every[each], args.rounds, folder, kept, args.after)]
        return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
