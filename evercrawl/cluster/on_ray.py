"""Partitions as Ray actors on the machines of a cluster; the only module that uses Ray.

Ray starts processes on machines and reports their ends. It stores no state of a crawl: the loss of Ray has the same
effect as a kill of all partitions.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import threading
import time
from collections.abc import Generator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from evercrawl import __version__
from evercrawl.cluster.birth import ClusterBirth, part_directory, write_birth
from evercrawl.cluster.copies.keeper_main import keep_copies
from evercrawl.cluster.disks import PartDisk, disk_here, disk_or_why, root_here, shared_out
from evercrawl.cluster.hauling.haul_main import haul
from evercrawl.cluster.hub import Hub
from evercrawl.cluster.launching import Line, PartProcess
from evercrawl.cluster.part import attend
from evercrawl.cluster.plan import PartPlan
from evercrawl.cluster.wire import Joined, packed
from evercrawl.errors import ConfigError
from evercrawl.extras import require
from evercrawl.store.disk.modes import shut_to_others

SERIES: Final = "2.60"
"""The supported series of Ray; others may behave differently."""
LOCAL: Final = "local"
"""The address that starts a Ray instance on this machine for this crawl alone."""
LOOK_S: Final = 5.0
FOUND_S: Final = 120.0
_JOIN_S: Final = 10.0
_ORPHAN_S: Final = 0.5
_STORE_BYTES: Final = 80 << 20  # Ray's minimum, because the object store is not used


def check_ray() -> None:
    """Check that a supported version of Ray is installed.

    Raises
    ------
    ConfigError
        It is not installed.
    """
    require("ray", "cluster", "crawls on several machines")
    if not (there := version("ray")).startswith(f"{SERIES}."):
        raise ConfigError(f"crawls on several machines need Ray {SERIES}, and {there} is installed; install "
                          "'evercrawl[cluster]' on all machines")  # fmt: skip


class PartActor:
    """A Ray process that crawls one partition."""

    def crawl(self, plan: PartPlan, address: tuple[str, int], token: str) -> None:
        """Join the coordinator, and crawl until it asks to stop or disconnects."""
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        shut_to_others()
        plan.directory.parent.mkdir(parents=True, exist_ok=True)
        asyncio.run(attend(plan, _joined(plan.incarnation, address, token)))


class KeeperActor:
    """A Ray process that holds second copies on a machine's disk."""

    def keep(self, copies: Path, life: int, address: tuple[str, int], token: str) -> None:
        """Join the coordinator, and write as asked until it asks to stop or disconnects."""
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
        shut_to_others()
        copies.parent.mkdir(parents=True, exist_ok=True)
        asyncio.run(keep_copies(copies, _joined(life, address, token)))


class HaulActor:
    """A Ray process that moves partitions from or to a machine's disk."""

    def haul(self, root: Path, life: int, address: tuple[str, int], token: str) -> None:
        """Join the coordinator, and execute its orders until it asks to stop or disconnects."""
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
        shut_to_others()
        asyncio.run(haul(root, _joined(life, address, token)))


def _joined(life: int, address: tuple[str, int], token: str) -> socket.socket:
    line = socket.create_connection(address, timeout=_JOIN_S)
    line.sendall(packed(Joined(token, life, __version__)))
    line.setblocking(False)
    return line


def _end_with(parent: int) -> None:
    """End this process when its parent ends, because Ray would let it run for a while."""
    while os.getppid() == parent:
        time.sleep(_ORPHAN_S)
    os._exit(1)


class RayLauncher:
    """Starts partitions on the machines of a Ray cluster, each on the machine of its disk.

    Parameters
    ----------
    ray
        The `ray` module, connected.
    directory, birth
        The crawl's directory and description.
    """

    def __init__(self, ray: Any, directory: Path, birth: ClusterBirth) -> None:
        self._ray, self._directory, self._birth = ray, directory.resolve(), birth
        self._hub = Hub(ray.util.get_node_ip_address(), __version__)
        self._asked = dict[str, Any]()  # node -> the pending answer
        self._disks = dict[str, PartDisk]()  # node -> its disk
        self._alive, self._addresses = set[str](), dict[str, str]()
        self._looked_at = float("-inf")
        self.troubles = dict[str, str]()

    def settle(self) -> ClusterBirth:
        """Assign a disk to each partition of a new crawl; return the updated description.

        Raises
        ------
        ConfigError
            No machine can have partitions, or there are some where this machine's should not be.
        """
        if self._birth.places:
            return self._birth
        until = time.monotonic() + FOUND_S
        self.look()
        while self._asked and time.monotonic() < until:
            time.sleep(0.1)
            self._see()
        if not self._disks:
            why = "; ".join(self.troubles.values()) or "none answered"
            raise ConfigError(f"no machine of the cluster can store partitions: {why}")
        if self._is_here():
            places = [disk_here(self._directory, self._birth.id).id] * self._birth.parts
        else:
            places = shared_out(self._birth.parts, {disk.id: disk.cpus for disk in self._disks.values()})
        self._birth.places[:] = places
        write_birth(self._directory, self._birth)
        return self._birth

    def _is_here(self) -> bool:
        """Return whether the crawl was started on this machine alone, or restored here from a backup."""
        root = root_here(self._directory, self._birth.id)
        folders = {each for each in (root, self._directory) if _has_parts(each, self._birth.parts)}
        if folders - {root}:
            raise ConfigError(
                f"{self._directory} has partitions, and EVERCRAWL_PARTS_DIR names another folder for them: move "
                f"part-0, part-1 and so on to {root}, or start without that variable"
            )
        return bool(folders)

    def missing(self, number: int) -> str:
        """Return why a partition cannot be started now, namely that its machine is missing; else ""."""
        if self._node_of(number) is not None:
            return ""
        return (
            f"partition {number} waits for the machine with its disk ({self._birth.places[number]}); "
            f"{len(self._alive)} machines are reachable"
        )

    def directory(self, number: int) -> Path:
        """Return the crawl directory of a partition, on its machine."""
        node = self._node_of(number)
        assert node is not None, "callers check first that its machine is reachable"
        return self._disks[node].part(number)

    def launch(self, plan: PartPlan) -> PartProcess:
        """Start a process on the machine of a partition."""
        node = self._node_of(plan.share.number)
        assert node is not None, "callers check first that its machine is reachable"
        return _RayProcess(self._ray, self._hub, node, plan.incarnation, PartActor, plan)

    def disks(self) -> dict[str, PartDisk]:
        """Return the reachable disks, by their ids."""
        return {self._disks[node].id: self._disks[node] for node in sorted(self._alive) if node in self._disks}

    def keep(self, disk: str, life: int) -> PartProcess:
        """Start a process that holds second copies on a reachable disk."""
        node = self._node_with(disk)
        copies = self._disks[node].copy(0).parent
        return _RayProcess(self._ray, self._hub, node, life, KeeperActor, copies, life)

    def haul(self, disk: str, life: int) -> PartProcess:
        """Start a process that moves partitions, on the machine of a reachable disk."""
        node = self._node_with(disk)
        return _RayProcess(self._ray, self._hub, node, life, HaulActor, self._disks[node].root, life)

    def address(self, disk: str) -> str:
        """Return the address of the machine of a reachable disk."""
        return self._addresses.get(self._node_with(disk), "")

    def _node_with(self, disk: str) -> str:
        return next(node for node in sorted(self._alive) if node in self._disks and self._disks[node].id == disk)

    def where(self, number: int) -> str:
        """Return the address of a partition's machine; "" if it is missing."""
        return self._addresses.get(self._node_of(number) or "", "")

    def _node_of(self, number: int) -> str | None:
        place = self._birth.places[number]
        return next(
            (node for node in sorted(self._alive) if node in self._disks and self._disks[node].id == place), None
        )

    def look(self) -> None:
        """Look for machines at intervals; a machine that vanishes in between is missed at the next look."""
        if time.monotonic() >= self._looked_at + LOOK_S or self._asked:
            self._see()

    def _see(self) -> None:
        """Look which machines are there, and ask new ones for their disks."""
        self._looked_at = time.monotonic()
        ray = self._ray
        nodes = {each["NodeID"]: each for each in ray.nodes() if each["Alive"]}
        self._alive = set(nodes)
        self._addresses = {node: str(each["NodeManagerAddress"]) for node, each in nodes.items()}
        for node in nodes.keys() - self._disks.keys() - self._asked.keys() - self.troubles.keys():
            ask = ray.remote(num_cpus=0, max_retries=0)(disk_or_why)
            cpus = float(nodes[node]["Resources"].get("CPU", 0.0)) or 0.01
            self._asked[node] = ask.options(scheduling_strategy=_on(node)).remote(self._directory, self._birth.id, cpus)
        for node, answer in list(self._asked.items()):
            done, _ = ray.wait([answer], timeout=0)
            if not done:
                continue
            del self._asked[node]
            try:
                found = ray.get(answer)
            except ray.exceptions.RayError as error:
                found = f"{nodes[node]['NodeManagerAddress'] if node in nodes else node}: {_first_line(error)}"
            if isinstance(found, PartDisk):
                self._disks[node] = found
            else:
                self.troubles[node] = found


class _RayProcess:
    """An actor that crawls a partition, holds copies, or moves a partition."""

    # A later process on the same disk waits for the directory's lock; on another disk it is started `lost_after_s`
    # later, when the leave of the old process has expired.
    gone = True

    def __init__(self, ray: Any, hub: Hub, node: str, life: int, actor: type, *given: Any) -> None:
        self._ray, self._hub, self._given = ray, hub, given
        self._actor = (
            ray.remote(num_cpus=0, max_restarts=0, max_task_retries=0)(actor)
            .options(scheduling_strategy=_on(node))
            .remote()
        )
        does = "keep" if actor is KeeperActor else "haul" if actor is HaulActor else "crawl"
        self._work = getattr(self._actor, does)
        self._line = hub.expect(life)
        self._over = asyncio.ensure_future(self._run())

    async def _run(self) -> str:
        try:
            await self._work.remote(*self._given, await self._hub.address(), self._hub.token)
        except self._ray.exceptions.RayError as error:
            return _first_line(error)
        finally:
            self._line.cancel()
        return "it ended"

    async def connected(self) -> Line | None:
        awaited: list[asyncio.Future[Any]] = [self._line, self._over]
        await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        if self._line.cancelled() or not self._line.done():
            return None
        return self._line.result()

    async def ended(self) -> str:
        return await self._over

    def kill(self) -> None:
        self._ray.kill(self._actor)


def _on(node: str) -> Any:
    return import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy(node_id=node, soft=False)


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


@contextlib.contextmanager
def connected(address: str) -> Generator[Any]:
    """Yield Ray, connected to a cluster; `LOCAL` starts one on this machine, which ends with this process.

    Raises
    ------
    ConfigError
        There is no cluster, or its version is not supported.
    """
    check_ray()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray: Any = import_module("ray")  # untyped: this module is the only user
    more: dict[str, Any] = {}
    if address == LOCAL:
        os.environ.setdefault("RAY_worker_niceness", "0")  # a partition without CPU time would lose its leave
        more = {"include_dashboard": False, "object_store_memory": _STORE_BYTES, "_node_ip_address": "127.0.0.1"}
    try:
        ray.init(address, namespace="evercrawl", log_to_driver=False, logging_level=logging.ERROR, **more)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        raise ConfigError(f"there is no Ray {SERIES} at {address}: {_first_line(error)}") from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _has_parts(folder: Path, parts: int) -> bool:
    return any(part_directory(folder, number).is_dir() for number in range(parts))
