"""Netsplit: cuts the network between two machines of a crawl, and heals it, in network namespaces on this machine.

Each machine is a namespace with a Ray node and a folder, the web a third one. Both machines reach the web all the
time, and each other as long as the link between them is up. It is cut for --cut-s, --rounds times; after that a machine
that Ray has given up is started again, as its service manager would. The crawl then goes on until it is idle. Needs
Linux, root, ip (iproute2) and unshare, nsenter (util-linux).

python bench/netsplit.py --rounds 2
python bench/netsplit.py --rounds 2 --kept
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from drills import Drill

from evercrawl.arrays.hasher import Hasher
from evercrawl.ask.parts_line import PartState, part_states
from evercrawl.cluster.birth import read_birth
from evercrawl.parse.sites import found_site
from evercrawl.parse.urls import hostname
from evercrawl.store.post.ownership import Ownership

INSIDE: Final = "BENCH_CUT_INSIDE"
WEB: Final = "10.78.0."
ADDRESSES: Final = 8
ALIVE_S: Final = 240.0
STOPPED_S: Final = 12.0
"""After a cut, the machine that was cut off may request pages for so long: its leave of 10 s, and what is under way."""
BEFORE_S: Final = 10.0
STAYS_S: Final = 30.0
"""For so long all partitions have to have processes until they count as back."""


def ip(words: str, within: list[str] | None = None) -> None:
    """Run ip, in a namespace if one is given."""
    subprocess.run([*(within or []), "ip", *words.split()], check=True)


class Namespaces:
    """The web here, and two machines, with links between all of them."""

    def __init__(self) -> None:
        self._holders = [subprocess.Popen(["unshare", "-n", "sleep", "infinity"]) for _ in range(2)]
        here = Path("/proc/self/ns/net").readlink()
        for holder in self._holders:
            while Path(f"/proc/{holder.pid}/ns/net").readlink() == here:
                time.sleep(0.01)
        self.within = [["nsenter", "-t", str(holder.pid), "-n"] for holder in self._holders]

    def link(self) -> None:
        """Link all of them."""
        ip("link set lo up")
        for number in range(1, ADDRESSES + 1):
            ip(f"addr add {WEB}{number}/32 dev lo")
        ip("link add m0 type veth peer name m1")
        for number, holder in enumerate(self._holders):
            within = self.within[number]
            ip(f"link add w{number} type veth peer name e{number}")
            ip(f"link set e{number} netns {holder.pid}")
            ip(f"addr add 10.78.{number + 1}.1/24 dev w{number}")
            ip(f"link set w{number} up")
            ip("link set lo up", within)
            ip(f"addr add 10.78.{number + 1}.2/24 dev e{number}", within)
            ip(f"link set e{number} up", within)
            ip(f"route add {WEB}0/24 via 10.78.{number + 1}.1", within)
            ip(f"link set m{number} netns {holder.pid}")
            ip(f"addr add 10.77.0.{number + 1}/24 dev m{number}", within)
            ip(f"link set m{number} up", within)

    def cut(self) -> None:
        """Let nothing pass between the machines."""
        ip("link set m0 down", self.within[0])

    def heal(self) -> None:
        """Let everything pass again."""
        ip("link set m0 up", self.within[0])

    def close(self) -> None:
        """End what holds the namespaces."""
        for holder in self._holders:
            holder.kill()
            holder.wait()


def cut_once(drill: Drill, spaces: Namespaces, cut_s: float, *, kept: bool) -> dict[str, Any]:
    """Cut, wait, heal, start what Ray has given up, and wait until the other machine requests pages again."""
    server, directory = drill.web.server, drill.directory
    if kept:
        drill.caught_up()
    began, first = time.time(), len(server.began)
    before = sum(
        peer == "10.78.2.2" and at > began - BEFORE_S
        for (at, _), peer in zip(server.began[:first], server.peers[:first], strict=True)
    )
    spaces.cut()
    time.sleep(cut_s)
    spaces.heal()
    healed = time.time()
    seen = [(at, url, peer) for (at, url), peer in zip(server.began[first:], server.peers[first:], strict=False)]
    far = [(at, url) for at, url, peer in seen if peer == "10.78.2.2" and at > began]
    near = [(at, url) for at, url, peer in seen if peer == "10.78.1.2" and at > began]
    birth = read_birth(directory)
    own = Ownership(birth.share(0), Hasher(bytes.fromhex(birth.secret)), found_site)
    partitions = {own.of(hostname(url)) for _, url in far}
    taken = [at for at, url in near if own.of(hostname(url)) in partitions]
    far_last, taken_first = max((at for at, _ in far), default=began), min(taken, default=None)
    again_s = back(drill, healed)
    return {
        "cut_s": cut_s, "before": before, "cut_off_last_request_s": round(far_last - began, 1),
        "its_partitions": sorted(partitions),
        "taken_over_s": None if taken_first is None else round(taken_first - began, 1),
        "asked_by_both_at_once": taken_first is not None and taken_first < far_last,
        "requests_of_the_other": len(near), "again_s": again_s,
    }  # fmt: skip


def back(drill: Drill, healed: float) -> float:
    """Start the machine that was cut off when its raylet ends; return after how long all partitions run, and stay."""
    machines, until, since = drill.machines, time.monotonic() + ALIVE_S, time.time()
    while time.monotonic() < until:
        if not machines.processes("raylet/raylet", number=1):  # Ray gives up a machine that it does not hear
            machines.kill(number=1)
            machines.start(1)
        there = states(drill)
        if not there or not all(state.up for state in there):
            since = time.time()
        elif time.time() > since + STAYS_S:
            return round(since - healed, 1)
        time.sleep(1.0)
    raise RuntimeError("a partition does not come back: " + (drill.folder / "crawl.log").read_text()[-2000:])


def states(drill: Drill) -> list[PartState]:
    """Return how the partitions are, as the crawl's command says."""
    return part_states(drill.directory) or []


def main() -> int:
    """Cut and heal, and print a JSON object for each round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--cut-s", type=float, default=60.0)
    parser.add_argument("--sites", type=int, default=24)
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--kept", action="store_true", help="have second copies on the other machine, which take over")
    args = parser.parse_args()
    if INSIDE not in os.environ:  # in a namespace of its own, which ends with it
        return subprocess.run(
            ["unshare", "-n", sys.executable, *sys.argv], env={**os.environ, INSIDE: "1"}, check=False
        ).returncode
    folder, good = Path(tempfile.mkdtemp(prefix="evercrawl-netsplit-")), False
    with contextlib.ExitStack() as ends:
        spaces = Namespaces()
        ends.callback(spaces.close)
        spaces.link()
        drill = Drill(folder, args.sites, args.pages, kept=args.kept, prefix=WEB)
        ends.callback(drill.machines.close)
        drill.machines.hosts, drill.machines.within = ["10.77.0.1", "10.77.0.2"], spaces.within
        drill.machines.start(0)
        drill.machines.start(1)
        drill.begin(delay="1")
        print(json.dumps({"start_s": drill.made(0)}), flush=True)
        time.sleep(10.0)
        rows = list[dict[str, Any]]()
        for _ in range(args.rounds):
            rows.append(cut_once(drill, spaces, args.cut_s, kept=args.kept))
            print(json.dumps(rows[-1]), flush=True)
        found = drill.finish()
        print(json.dumps(found), flush=True)
        good = not (found["exit"] or found["lost"] or found["of_two"] or found["wrong"])
        good = good and not any(row["asked_by_both_at_once"] for row in rows)
        good = good and all(row["before"] and row["cut_off_last_request_s"] <= STOPPED_S for row in rows)
    if good:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
