"""Sockets in crawl directories, whose paths may be longer than the name of a socket."""

import asyncio
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from evercrawl.crawl.orders.live import LiveLine
from evercrawl.store.disk.lock import Lock
from evercrawl.store.live_line import NAME, ask


@pytest.mark.parametrize("length", [1, 150])
def test_a_run_is_asked_by_a_socket_in_its_directory_and_leaves_nothing(tmp_path, monkeypatch, length):
    directory, temporary = tmp_path / ("d" * length), tmp_path / "temporary"
    directory.mkdir()
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    one = SimpleNamespace(obeying=SimpleNamespace(ping=lambda: None, paused=True))

    async def run() -> dict[str, object] | None:
        live = LiveLine(one, lambda: None, SimpleNamespace())  # type: ignore[arg-type]
        lock.tell(await live.open(directory))
        assert (directory / NAME).stat().st_mode & 0o777 == 0o600
        with ThreadPoolExecutor(1) as thread:
            answer = await asyncio.get_running_loop().run_in_executor(thread, ask, directory, {"ask": "ping"}, 5.0)
        assert [*temporary.iterdir()] == []
        await live.close()
        return answer

    with Lock.take(directory, "evercrawl crawl", 1.0) as lock:
        assert asyncio.run(run()) == {"paused": True}
    assert [path.name for path in directory.iterdir()] == ["lock"]


def test_no_lock_file_leads_to_a_socket_elsewhere(tmp_path):
    with Lock.take(tmp_path, "evercrawl crawl", 1.0) as lock:
        lock.tell(str(Path("/run/elsewhere.sock")))
        assert ask(tmp_path, {"ask": "ping"}, 0.1) is None
