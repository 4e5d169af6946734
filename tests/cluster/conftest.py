"""A crawl in several partitions on this machine: real processes, a server of many names on loopback."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from evercrawl.ask.verify.together import Together, together
from evercrawl.cluster.birth import ClusterBirth, is_cluster, part_directories, write_birth
from evercrawl.model.stored.reader import opened
from evercrawl.parse.sites import site_rules
from evercrawl.simulate.surroundings.named_loopback import NETWORK, NamedLoopback
from evercrawl.store.disk.lock import holder
from evercrawl.store.partition import Partition
from tests.cluster.folder_machines import FolderMachines


class ServedNames:
    """A server that runs in a thread, and the command line beside it."""

    def __init__(self, folder: Path, **made: Any) -> None:
        self.folder, self.directory = folder, folder / "crawl"
        self.server = NamedLoopback(**made)
        self._started: list[subprocess.Popen[str]] = []
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait(10)
        self.server.write_names(folder / "names.txt")

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        async with self.server:
            self._ready.set()
            await self._end.wait()

    def close(self) -> None:
        """Stop the server, and what a test that failed left running."""
        for process in self._started:
            if process.poll() is not None:
                continue
            process.kill()
            for child in self.processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            process.communicate()
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)

    @staticmethod
    def command(*args: str) -> list[str]:
        return [sys.executable, "-m", "evercrawl", *args]

    def crawling(self, *args: str, seed: bool = True) -> list[str]:
        named = [self.server.seed] if seed else []
        return self.command(
            "crawl", *named, "--dir", str(self.directory), "--scope", "any", "--allow-net", NETWORK, "--delay", "0.02",
            "--resolve", str(self.folder / "names.txt"), "--contact", "me@example.org", *args,
        )  # fmt: skip

    def start(self, *args: str, seed: bool = True) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            self.crawling(*args, seed=seed), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
        )
        self._started.append(process)
        return process

    def read(self) -> Together:
        """Return what all partitions have, read together."""
        partitions = [opened(part) for part in part_directories(self.directory)]
        try:
            return together(partitions)
        finally:
            for partition in partitions:
                partition.close()

    def processes(self) -> list[int]:
        """Return the processes of the partitions, as their locks name them."""
        if not is_cluster(self.directory):
            return []
        parts = [part for part in part_directories(self.directory) if part.is_dir()]
        return [there["pid"] for part in parts if (there := holder(part)) is not None]

    def run(self, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(self.command(*args), capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == code, done.stdout + done.stderr
        return done


@pytest.fixture
def begun_here(tmp_path):
    """Return a crawl of two partitions on this machine, of which one has been begun."""
    directory = tmp_path / "wide"
    (directory / "part-1").mkdir(parents=True)
    birth = ClusterBirth(1, "crawl", 2, "00" * 16, site_rules())
    write_birth(directory, birth)
    Partition(directory / "part-1", os.urandom, now=1e9, secret=bytes(16), share=birth.share(1)).close()
    return directory


@pytest.fixture
def machines(tmp_path):
    """Return a crawl of two partitions on machines that are folders, and what starts processes there."""
    directory = tmp_path / "wide"
    directory.mkdir()
    birth = ClusterBirth(1, "c", 2, "00" * 16, 0, places=["", ""])
    launcher = FolderMachines(tmp_path, birth, "ab")
    birth.places[:] = sorted(launcher.there)
    write_birth(directory, birth)
    return directory, launcher


@pytest.fixture
def served(tmp_path):
    # With so many sites, each partition of two has some but once in eight million crawls.
    one = ServedNames(tmp_path, sites=24, pages=4, addresses=3)
    yield one
    one.close()
