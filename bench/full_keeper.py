"""The disk of second copies is full for a while: the crawl says so and waits, and goes on once there is room.

    python bench/full_keeper.py [--rounds 10]

Each round crawls made-up sites in two partitions on loopback, with second copies on a file system in memory of its own
(`unshare`, which needs no root where user namespaces are allowed). Once some pages were requested, a file fills it. The
crawl has to say so, and to request nothing more after a few seconds; `evercrawl status` has to answer. In every second
round all processes are killed (SIGKILL) meanwhile, and the crawl is started again before there is room. Then the file
is removed. The crawl has to come to its end by itself, `verify` has to find nothing wrong, the directories of the
partitions are removed, and the crawl that is restored from the copies has to hold every page.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
from drills import Served

from evercrawl.ask.verify.together import together
from evercrawl.cluster.birth import part_directories
from evercrawl.model.stored.reader import opened
from evercrawl.simulate.parted.reached import reached

COPIES_BYTES = 4 << 20
LEAST_ASKED, QUIET_S, END_S = 25, 12.0, 300.0
FULL_SAID = "cannot be written"


class FullRound:
    """One crawl whose copies find no room for a while."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.directory, self.copies = folder, folder / "crawl", folder / "copies"
        self.copies.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={COPIES_BYTES}", "none", str(self.copies)], check=True)
        self.web, self.log = Served(folder, 24, 12), folder / "log.txt"
        self.crawl: subprocess.Popen[bytes] | None = None

    def begin(self, *more: str) -> None:
        """Start the crawl."""
        command = [
            sys.executable, "-m", "evercrawl", "crawl", self.web.server.seed, "--dir", str(self.directory), "--scope",
            "any", "--delay", "0.2", "--allow-net", self.web.network, "--resolve", str(self.web.names), "--workers",
            "0", "--contact", "me@example.org", "--no-index", "--partitions", "2", "--durable", "keeper",
            "--keeper-dir", str(self.copies), *more,
        ]  # fmt: skip
        with self.log.open("ab") as out:
            self.crawl = subprocess.Popen(command, stdout=out, stderr=out)

    def asked(self) -> int:
        """Return how many requests for pages came."""
        return sum(self.web.server.asked.values())

    def fill(self) -> None:
        """Leave no room for the copies."""
        with (self.copies / "ballast").open("wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                return

    def wait(self, what: str, come: Callable[[], object], within_s: float = 120.0) -> None:
        """Wait until something has come."""
        until = time.monotonic() + within_s
        while not come():
            if time.monotonic() > until:
                raise RuntimeError(f"{what} did not come: {self.log.read_text()[-2000:]}")
            time.sleep(0.1)

    def quiet(self) -> int:
        """Return how many requests came until none came for `QUIET_S`: the copy of one partition may have more room."""
        asked, since, until = self.asked(), time.monotonic(), time.monotonic() + 120.0
        while time.monotonic() < since + QUIET_S:
            assert time.monotonic() < until, "it requests pages that nobody could keep"
            if self.asked() != asked:
                asked, since = self.asked(), time.monotonic()
            time.sleep(0.1)
        return asked

    def kill(self) -> None:
        """Kill the crawl and its partitions."""
        assert self.crawl is not None
        for process in [*psutil.Process(self.crawl.pid).children(recursive=True), psutil.Process(self.crawl.pid)]:
            process.send_signal(signal.SIGKILL)
        self.crawl.wait()

    def ended(self) -> int:
        """Return the exit code of the crawl, which ends by itself."""
        assert self.crawl is not None
        return self.crawl.wait(END_S)

    def run(self, *, killed: bool) -> str:
        """Make the round; return what was seen."""
        self.begin("--until-idle")
        self.wait("the first pages", lambda: self.asked() >= LEAST_ASKED)
        self.fill()
        full_at = self.asked()
        self.wait("a sentence about the full disk", lambda: FULL_SAID in self.log.read_text())
        if killed:
            self.kill()
            said = self.log.read_text().count(FULL_SAID)
            self.begin("--until-idle")
            self.wait("the same from the next run", lambda: self.log.read_text().count(FULL_SAID) > said)
        waits_at = self.quiet()
        status = subprocess.run([sys.executable, "-m", "evercrawl", "status", "--dir", str(self.directory)],
                                capture_output=True, check=False)  # fmt: skip
        assert status.returncode == 0, status.stderr
        (self.copies / "ballast").unlink()
        room_at = time.monotonic()
        self.wait("a page after there was room", lambda: self.asked() > waits_at)
        again_s = time.monotonic() - room_at
        assert self.ended() == 0, self.log.read_text()[-2000:]
        subprocess.run([sys.executable, "-m", "evercrawl", "verify", "--dir", str(self.directory)], check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        for part in part_directories(self.directory):
            shutil.rmtree(part)
        self.begin("--pages", "1")
        assert self.ended() == 0, self.log.read_text()[-2000:]
        partitions = [opened(part) for part in part_directories(self.directory)]
        found = together(partitions)
        for partition in partitions:
            partition.close()
        assert found.wrong == [], found.wrong
        lost = reached(self.web.server.web, self.web.server.seed) - set(found.visited)
        assert not lost, lost
        return f"{full_at} requests before, {waits_at - full_at} after it was full; again after {again_s:.1f} s"

    def close(self) -> None:
        """Leave nothing behind."""
        if self.crawl is not None and self.crawl.poll() is None:
            self.kill()
        subprocess.run(["umount", "-l", str(self.copies)], check=True)


def main() -> int:
    """Run all rounds; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    args = parser.parse_args()
    if os.environ.get("FULL_KEEPER") != "1":
        command = ["unshare", "--user", "--map-root-user", "--mount", sys.executable, *sys.argv]
        return subprocess.run(command, check=False, env={**os.environ, "FULL_KEEPER": "1"}).returncode
    bad = 0
    for number in range(args.rounds):
        with tempfile.TemporaryDirectory() as folder:
            one = FullRound(Path(folder))
            try:
                print(f"{number}: {one.run(killed=number % 2 == 1)}", flush=True)
            except (AssertionError, RuntimeError, subprocess.SubprocessError) as error:
                bad += 1
                print(f"{number}: {type(error).__name__}: {error}", flush=True)
            finally:
                one.close()
    print(f"{'met   ' if not bad else 'MISSED'}  {args.rounds} rounds, {bad} of them with something lost or wrong")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
