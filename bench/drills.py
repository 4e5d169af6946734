"""Drills on a real Ray cluster on this machine: kill -9 of actors, raylets, Ray's head, and the crawl itself; moves.

Two raylets with a folder each stand for two machines; four partitions are crawled on them. Each round kills something
while the crawl runs, mends what a person would mend (starts the machine, or the crawl, again), and waits until visits
are made again. At the end the crawl goes on until it is idle, all partitions are read together, and every promise is
held against what the server was asked. With --resume, what was made and held is noted in a file, and later sittings, of
--rounds each, go on until there are --each of every kind.

python bench/drills.py --rounds 8
python bench/drills.py --rounds 5 --kept
python bench/drills.py --rounds 3 --kinds move
python bench/drills.py --rounds 2 --kinds move,broken,unheard,join,backup
python bench/drills.py --rounds 8 --each 50 --resume drills.jsonl
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import psutil

from evercrawl.ask.verify.together import Together, together
from evercrawl.cluster.birth import read_birth
from evercrawl.model.stored.reader import opened
from evercrawl.simulate.parted.reached import reached
from evercrawl.simulate.surroundings.named_loopback import NETWORK, NamedLoopback
from evercrawl.store.journal.events import Lost

KINDS = "actor", "raylet", "coordinator", "head"
KEPT_KINDS = "disk", "directory"
"""With --kept besides: a machine is killed and its folder removed, and another machine comes instead of it; the crawl
is killed and its directory removed, and it goes on from what is beside the second copies."""
MOVE_KINDS = "move", "drain", "broken", "unheard", "join", "backup"
"""If they are named: a partition moves to the other machine; a machine is emptied, and used again; during a move the
crawl's command, a process of the move or of a partition, or a machine is killed; the new machine is killed as soon as
`cluster.json` names it, and the partition goes back; a machine joins, and gets its share by `evercrawl rebalance`;
the partitions of all machines are backed up, and the backup is read."""
THIRD = 99
LOST_AFTER_S = 10
PARTS = 4
MADE_S = 180.0


class Machines:
    """A Ray cluster of two machines that are folders, and everything that belongs to it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.token = folder, secrets.token_hex(16)
        self.hosts = ["127.0.0.1"]  # of each machine; the last one is also that of those behind it
        self.within = list[list[str]]()  # what precedes a command that is to run on a machine
        self.temporary = Path(tempfile.mkdtemp(prefix="ec-"))  # Ray's sockets need a short path
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.env = {
            **os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": self.token, "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_worker_niceness": "0",
        }  # fmt: skip

    @property
    def address(self) -> str:
        """Where Ray's head is."""
        return f"{self.hosts[0]}:{self.port}"

    def on(self, number: int) -> list[str]:
        """Return what precedes a command that is to run on a machine."""
        return self.within[min(number, len(self.within) - 1)] if self.within else []

    def start(self, number: int) -> None:
        """Start a machine; number 0 is Ray's head."""
        env = {**self.env, "EVERCRAWL_PARTS_DIR": str(self.folder / f"disk-{number}")}
        port = self.address.rpartition(":")[2]
        more = (
            ["--head", "--port", port, "--include-dashboard", "false"] if number == 0 else ["--address", self.address]
        )
        if number == 0:
            more += ["--temp-dir", str(self.temporary)]
        host = self.hosts[min(number, len(self.hosts) - 1)]
        command = [*self.on(number), str(Path(sys.executable).with_name("ray")), "start", "--node-ip-address", host,
                   "--num-cpus", "1", "--object-store-memory", str(80 << 20), *more]  # fmt: skip
        said = ""
        for _ in range(3):
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return
            said = done.stdout + done.stderr
            time.sleep(2)
        raise RuntimeError(said)

    def processes(self, name: str = "", number: int | None = None) -> list[psutil.Process]:
        """Return what belongs to this cluster, by a part of its command line; of one machine, if asked."""
        found = list[psutil.Process]()
        for process in psutil.process_iter():
            try:
                env = process.environ()
                line = " ".join(process.cmdline())
            except psutil.Error:
                continue
            disk = env.get("EVERCRAWL_PARTS_DIR", "")
            if env.get("RAY_AUTH_TOKEN") != self.token or name not in line or process.pid == os.getpid():
                continue
            if number is None or disk.endswith(f"disk-{number}"):
                found.append(process)
        return found

    def kill(self, name: str = "", number: int | None = None, most: int | None = None) -> int:
        """Kill -9 what `processes` returns; return how many that were."""
        killed = 0
        for process in self.processes(name, number)[:most]:
            try:
                process.kill()
                killed += 1
            except psutil.Error:
                continue
        return killed

    def close(self) -> None:
        """Leave nothing behind."""
        while self.kill():
            time.sleep(0.2)
        shutil.rmtree(self.temporary, ignore_errors=True)


class Served:
    """The made-up web, served by a thread."""

    def __init__(self, folder: Path, sites: int, pages: int, prefix: str = "127.0.9.") -> None:
        self.server = NamedLoopback(sites=sites, pages=pages, addresses=8, prefix=prefix)
        self.network, self._ready = f"{prefix}0/24" if prefix != "127.0.9." else NETWORK, threading.Event()
        threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True).start()
        self._ready.wait(20)
        self.names = folder / "names.txt"
        self.server.write_names(self.names)

    async def _serve(self) -> None:
        async with self.server:
            self._ready.set()
            await asyncio.Event().wait()


class Drill:
    """One crawl, on which rounds are made."""

    def __init__(self, folder: Path, sites: int, pages: int, *, kept: bool = False, prefix: str = "127.0.9.") -> None:
        self.folder, self.directory, self.last, self.moves = folder, folder / "crawl", 1, 0
        self.keeping = ("--lost-after", f"{LOST_AFTER_S}s", *(("--durable", "keeper") if kept else ()))
        self.kept = kept
        self.web, self.machines = Served(folder, sites, pages, prefix), Machines(folder)
        self.crawl: subprocess.Popen[str] | None = None

    def begin(self, *more: str, delay: str) -> None:
        """Start or resume the crawl."""
        command = [
            sys.executable, "-m", "evercrawl", "crawl", self.web.server.seed, "--dir", str(self.directory),
            "--partitions", str(PARTS), "--cluster", self.machines.address, "--scope", "any", "--delay", delay,
            "--allow-net", self.web.network, "--resolve", str(self.web.names), "--no-index", "--workers", "0",
            "--quiet", "--contact", "me@example.org", *self.keeping, *more,
        ]  # fmt: skip
        self.crawl = subprocess.Popen(
            [*self.machines.on(0), *command], env=self.machines.env, stdout=subprocess.DEVNULL,
            stderr=(self.folder / "crawl.log").open("a"), text=True,
        )  # fmt: skip

    def made(self, since: int) -> float:
        """Wait until pages were asked for since; return how long that took (s)."""
        began = time.monotonic()
        while sum(self.web.server.asked.values()) < since + 10:
            if time.monotonic() > began + MADE_S:
                raise RuntimeError("no page was visited again: " + (self.folder / "crawl.log").read_text()[-2000:])
            time.sleep(0.1)
        return round(time.monotonic() - began, 1)

    def round(self, kind: str) -> dict[str, object]:
        """Kill, mend, and wait until it crawls again."""
        machines, crawl = self.machines, self.crawl
        assert crawl is not None, "it has begun"
        killed = 0
        if kind == "actor":
            killed = machines.kill("ray::PartActor", most=1)
        elif kind == "raylet":
            killed = machines.kill("raylet/raylet", number=self.last)
            time.sleep(2)
            machines.start(self.last)
        elif kind in MOVE_KINDS:
            return self.moved(kind)
        elif kind == "disk":
            self.caught_up()
            killed = machines.kill("raylet/raylet", number=self.last)
            while machines.processes(number=self.last):
                machines.kill(number=self.last)
                time.sleep(0.2)
            shutil.rmtree(self.folder / f"disk-{self.last}")
            self.last += 1
            machines.start(self.last)
        elif kind == "directory":
            self.caught_up()
            crawl.kill()
            crawl.wait()
            killed = 1
            shutil.rmtree(self.directory)
            self.directory.mkdir()
            held = max(self.folder.glob("disk-*/*/copies/cluster.json"), key=lambda file: read_birth(file.parent).lives)
            for name in ("cluster.json", "crawl.toml"):
                shutil.copy(held.with_name(name), self.directory)
            self.begin(delay="0.3")
        elif kind == "coordinator":
            crawl.kill()
            crawl.wait()
            killed = 1
            self.begin(delay="0.3")
        else:
            killed = machines.kill("gcs_server") + machines.kill("raylet/raylet", number=0)
            crawl.kill()
            crawl.wait()
            machines.kill()
            machines.start(0)
            machines.start(self.last)
            self.begin(delay="0.3")
        return {"kind": kind, "killed": killed, "again_s": self.made(sum(self.web.server.asked.values()))}

    def moved(self, kind: str) -> dict[str, object]:
        """Have a partition move to the other machine, or a machine emptied, while the crawl runs."""
        if kind == "drain" and self.kept and not self.machines.processes(number=THIRD):
            self.machines.start(THIRD)  # partitions and their second copies need two machines besides
            until = time.monotonic() + MADE_S
            while not list(self.folder.glob(f"disk-{THIRD}/*/disk-id")) and time.monotonic() < until:
                time.sleep(0.1)
        asked, began = sum(self.web.server.asked.values()), time.monotonic()
        disks = {file.read_text(): file.parent for file in self.folder.glob("disk-*/*/disk-id")}
        places = read_birth(self.directory).places
        self.moves += 1
        number = (self.moves + self.moves // PARTS) % PARTS
        goal = next(disk for disk in disks if disk != places[number])
        words = ["move", str(number), goal] if kind == "move" else ["drain", places[0]]
        if kind == "broken":
            return self.broken(number, goal)
        if kind == "unheard":
            return self.unheard()
        if kind == "join":
            return self.joined()
        if kind == "backup":
            return self.backed_up()
        done = self.verb(*words)
        found: dict[str, object] = {
            "kind": kind, "of_s": round(time.monotonic() - began, 1),
            "visits_meanwhile": sum(self.web.server.asked.values()) - asked,
        }  # fmt: skip
        if kind == "move":
            found |= {name: done[name] for name in ("number", "copied_bytes", "pause_s")}
            assert read_birth(self.directory).places[number] == goal, "it is there"
        else:
            assert places[0] not in read_birth(self.directory).places, "it is empty"
            found["moved"] = places.count(places[0])
            self.verb("drain", places[0], "--lift")
        return {**found, "again_s": self.made(sum(self.web.server.asked.values()))}

    def broken(self, number: int, goal: str) -> dict[str, object]:
        """Begin a move, and kill something meanwhile; what comes of it is seen at the end."""
        what = ("ray::HaulActor", "crawl", "ray::PartActor", "raylet/raylet")[self.moves % 4]
        after_s, before = round(random.uniform(0.5, 6.0), 1), read_birth(self.directory).places[number]
        command = [sys.executable, "-m", "evercrawl", "move", str(number), goal, "--dir", str(self.directory)]
        moving = subprocess.Popen(command, env=self.machines.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(after_s)
        hit = 1
        if what == "crawl" and self.crawl is not None:
            self.crawl.kill()
            self.crawl.wait()
            self.begin(delay="0.3")
        elif what == "raylet/raylet":
            hit = self.machines.kill(what, number=self.last)
            time.sleep(2)
            self.machines.start(self.last)
        else:
            hit = self.machines.kill(what, most=1)
        moving.communicate()
        again_s = self.made(sum(self.web.server.asked.values()))
        place = read_birth(self.directory).places[number]
        assert place in (goal, before), "it is on one of the two"
        return {
            "kind": "broken", "killed": what, "hit": hit, "after_s": after_s, "moved": place == goal,
            "stayed": place == before, "again_s": again_s,
        }  # fmt: skip

    def unheard(self) -> dict[str, object]:
        """Kill the new machine of a partition as soon as that is there, before it can report; it is to go back."""
        disks = {int(file.parents[1].name.partition("-")[2]): file.read_text()
                 for file in self.folder.glob("disk-*/*/disk-id")}  # fmt: skip
        goal, source = disks[self.last], disks[0]
        places = read_birth(self.directory).places
        if source not in places:  # all are on the other machine
            self.verb("move", "0", source)
            places = read_birth(self.directory).places
        number = places.index(source)
        command = [sys.executable, "-m", "evercrawl", "move", str(number), goal, "--dir", str(self.directory)]
        moving = subprocess.Popen(command, env=self.machines.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while read_birth(self.directory).places[number] == source:
            if moving.poll() is not None:
                raise RuntimeError(moving.communicate())
            time.sleep(0.002)
        began = time.monotonic()
        self.machines.kill("raylet/raylet", number=self.last)
        self.machines.kill(number=self.last)
        moving.communicate()
        untried = number in read_birth(self.directory).untried
        until = time.monotonic() + MADE_S
        while untried and read_birth(self.directory).places[number] == goal and time.monotonic() < until:
            time.sleep(0.05)
        back_s = round(time.monotonic() - began, 1)
        back = read_birth(self.directory).places[number] == source
        self.machines.start(self.last)
        return {
            "kind": "unheard", "untried": untried, "back": back, "back_s": back_s,
            "again_s": self.made(sum(self.web.server.asked.values())),
        }  # fmt: skip

    def backed_up(self) -> dict[str, object]:
        """Back all partitions up while the crawl runs, and read the backup with all of them together."""
        copy, asked, began = self.folder / "copy", sum(self.web.server.asked.values()), time.monotonic()
        told = self.verb("backup", str(copy))
        of_s, meanwhile = round(time.monotonic() - began, 1), sum(self.web.server.asked.values()) - asked
        found, _ = read([copy / f"part-{number}" for number in range(PARTS)])
        assert not found.wrong, found.wrong[:3]
        return {
            "kind": "backup", "of_s": of_s, "visits_meanwhile": meanwhile, "pages": len(found.visited),
            "law_off_at_worst": found.worst, **{name: told[name] for name in ("events", "left_out", "copied_bytes")},
            "again_s": self.made(sum(self.web.server.asked.values())),
        }  # fmt: skip

    def joined(self) -> dict[str, object]:
        """Let a machine join, if it has not yet, and have partitions moved to it."""
        if not self.machines.processes(number=THIRD):
            self.machines.start(THIRD)
        until = time.monotonic() + MADE_S
        while not list(self.folder.glob(f"disk-{THIRD}/*/disk-id")) and time.monotonic() < until:
            time.sleep(0.1)
        new = next(self.folder.glob(f"disk-{THIRD}/*/disk-id")).read_text()
        time.sleep(6)  # the crawl looks for machines every 5 s
        before, began = read_birth(self.directory).places, time.monotonic()
        count = self.verb("rebalance")["partitions"]
        while (birth := read_birth(self.directory)).shared is None or not {*birth.places, new} <= {*birth.shared}:
            if time.monotonic() > began + MADE_S:
                raise RuntimeError("it does not get its share: " + (self.folder / "crawl.log").read_text()[-2000:])
            time.sleep(0.1)
        return {
            "kind": "join", "said": count, "moved": sum(a != b for a, b in zip(before, birth.places, strict=True)),
            "of_each": sorted(Counter(birth.places).values()), "of_s": round(time.monotonic() - began, 1),
            "again_s": self.made(sum(self.web.server.asked.values())),
        }  # fmt: skip

    def verb(self, *words: str) -> dict[str, object]:
        """Give an order; return what it came to."""
        command = [sys.executable, "-m", "evercrawl", *words, "--dir", str(self.directory), "--json"]
        done = subprocess.run(command, env=self.machines.env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
        return dict(json.loads(done.stdout))

    def caught_up(self) -> None:
        """Wait until every partition has a whole second copy on another disk."""
        until = time.monotonic() + MADE_S
        while time.monotonic() < until:
            birth = read_birth(self.directory)
            whole = [birth.copies.get(number) for number in range(PARTS)]
            if all(copy is not None and copy.place != birth.places[n] for n, copy in enumerate(whole)):
                return
            time.sleep(0.1)
        raise RuntimeError("a second copy does not catch up: " + (self.folder / "crawl.log").read_text()[-2000:])

    def finish(self) -> dict[str, object]:
        """Crawl until idle, and read everything together."""
        assert self.crawl is not None, "it has begun"
        self.crawl.send_signal(signal.SIGTERM)
        self.crawl.wait(60)
        self.begin("--until-idle", delay="0.02")
        code = self.crawl.wait(900)
        birth = read_birth(self.directory)
        disks = {file.read_text(): file.parent for file in self.folder.glob(f"disk-*/{birth.id}/disk-id")}
        there = {number: disks[birth.places[number]] / f"part-{number}" for number in range(birth.parts)}
        found, gone = read([there[number] for number in sorted(there)])
        wanted = reached(self.web.server.web, self.web.server.seed)
        return {
            "exit": code, "partitions": len(there), "disks": len({path.parents[1] for path in there.values()}),
            "lives": birth.lives, "pages": len(found.visited), "lost": len(wanted - set(found.visited)),
            "bodies_lost": gone, "of_two": sum(len(who) > 1 for who in found.visited.values()),
            "under_way": found.under_way, "law_off_at_worst": found.worst, "wrong": found.wrong[:3],
        }  # fmt: skip


def read(parts: list[Path]) -> tuple[Together, int]:
    """Return what partitions have, read together, and how many bodies were lost."""
    partitions = [opened(part) for part in parts]
    try:
        gone = sum(isinstance(event, Lost) for each in partitions for _, _, event in each.journal.replay())
        return together(partitions), gone
    finally:
        for partition in partitions:
            partition.close()


def left(kinds: list[str], each: int, noted: Path | None) -> list[str]:
    """Return the rounds that are left to make, kinds in turn.

    >>> left(["actor", "head"], 2, None)
    ['actor', 'head', 'actor', 'head']
    """
    made = Counter[str]()
    if noted is not None and noted.exists():
        made.update(json.loads(line)["kind"] for line in noted.read_text().splitlines())
    return [kind for number in range(each) for kind in kinds if made[kind] <= number]


def main() -> int:
    """Make rounds, and print a JSON object for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument(
        "--kinds", default="", help=f"of {', '.join((*KINDS, *MOVE_KINDS))}; with --kept {', '.join(KEPT_KINDS)}"
    )
    parser.add_argument("--kept", action="store_true", help="have second copies on the other machine, and lose disks")
    parser.add_argument("--sites", type=int, default=24)
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--each", type=int, help="rounds of each kind in all sittings; with --resume")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="file of the rounds that were made and held")
    args = parser.parse_args()
    kinds = args.kinds.split(",") if args.kinds else [*(KEPT_KINDS if args.kept else ()), *KINDS]
    rounds = left(kinds, args.each or args.rounds, args.resume)[: args.rounds]
    made = list[dict[str, object]]()
    folder = Path(tempfile.mkdtemp(prefix="evercrawl-drills-"))
    drill = Drill(folder, args.sites, args.pages, kept=args.kept)
    good = False
    try:
        drill.machines.start(0)
        drill.machines.start(1)
        drill.begin(delay="0.3")
        print(json.dumps({"kind": "start", "again_s": drill.made(0)}), flush=True)
        for number, kind in enumerate(rounds):
            made.append(drill.round(kind))
            print(json.dumps({"round": number, **made[-1]}), flush=True)
        found = drill.finish()
        print(json.dumps(found), flush=True)
        good = not (found["exit"] or found["lost"] or found["of_two"] or found["wrong"])
        if good and args.resume is not None:
            with args.resume.open("a") as noted:
                noted.writelines(
                    json.dumps({**one, "at": time.time(), "load": os.getloadavg()[0]}) + "\n" for one in made
                )
    finally:
        drill.machines.close()
        shutil.rmtree(folder, ignore_errors=good)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
