"""A crawl of a service user, and root beside it: root looks and gives orders, and locks that user out of nothing."""

import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evercrawl.ask.orders.give import give
from evercrawl.ask.status import status
from evercrawl.cli.main import main
from evercrawl.config import Config, amend, load, save
from evercrawl.errors import ConfigError, StoreError
from evercrawl.serve.guard import token_of
from evercrawl.store import live_line
from evercrawl.store.cursors import Cursors
from evercrawl.store.disk import owner
from evercrawl.store.disk.listening import bound
from evercrawl.store.disk.lock import Lock
from evercrawl.store.disk.plain import see_plain
from evercrawl.store.orders import FILE, CrawlOrder, OrderFile
from evercrawl.store.partition import Partition

ROOT = os.geteuid() == 0
SERVICE = 54321 if ROOT else os.geteuid()
NAME = owner.user_name(SERVICE)


def give_to(directory: Path, uid: int) -> None:
    """Give the directory with all its files to a user."""
    for path in (directory, *directory.rglob("*")):
        os.chown(path, uid, uid)


@contextmanager
def as_owner() -> Iterator[None]:
    """Be the service user for a while."""
    if ROOT:
        os.seteuid(SERVICE)
        try:
            yield
        finally:
            os.seteuid(0)
    else:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(os, "geteuid", lambda: SERVICE)
            yield


@contextmanager
def as_root() -> Iterator[None]:
    """Be root again for a while, within `as_owner`."""
    if ROOT:
        os.seteuid(0)
        try:
            yield
        finally:
            os.seteuid(SERVICE)
    else:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(os, "geteuid", lambda: 0)
            yield


@pytest.fixture
def theirs(monkeypatch) -> Iterator[Path]:
    """Return a crawl of a service user; this process is root, or tells itself so."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "crawl"
        directory.mkdir()
        Partition(directory, os.urandom, now=1e9).close()
        save(Config(), directory)
        if ROOT:
            Path(folder).chmod(0o755)
            above = Path(folder).parent
            above.chmod(above.stat().st_mode | 0o011)
            give_to(directory, SERVICE)
        else:
            monkeypatch.setattr(os, "geteuid", lambda: 0)
            monkeypatch.setattr(owner.tempfile, "TemporaryFile", lambda **_: Path("/etc/passwd").open())  # noqa: SIM115
        yield directory


def files(directory: Path) -> dict[Path, int]:
    return {path: path.lstat().st_uid for path in directory.rglob("*")}


def test_root_writes_nothing_that_the_owner_could_not_use(theirs):
    before = files(theirs)
    works: list[Callable[[], object]] = [
        lambda: Lock.take(theirs, "test", 1e9), lambda: Partition(theirs, os.urandom, now=1e9),
        lambda: Cursors(theirs), lambda: token_of(theirs),
    ]  # fmt: skip
    for work in works:
        with pytest.raises(StoreError, match=f"belongs to {NAME}, .* run this as {NAME}"):
            work()
    assert main(["crawl", "--dir", str(theirs)]) == 3
    status(theirs)
    assert files(theirs) == before


def test_an_order_of_root_is_the_owners_to_read_and_to_add_to(theirs):
    give(theirs, CrawlOrder("pause"))
    give(theirs, CrawlOrder("resume"))
    about = (theirs / FILE).lstat()
    assert (about.st_uid, about.st_mode & 0o777) == (SERVICE, 0o600)
    with as_owner():
        assert OrderFile(theirs).distrusted() == ""
        give(theirs, CrawlOrder("pause"))
    give(theirs, CrawlOrder("resume"))
    assert (theirs / FILE).read_text().count("\n") == 4


def test_amended_settings_stay_the_owners(theirs):
    assert amend(theirs, {"delay_s": 7.0})
    assert (theirs / "crawl.toml").lstat().st_uid == SERVICE
    with as_owner():
        assert load(theirs / "crawl.toml").delay_s == 7.0


def test_orders_that_cannot_be_read_are_told_of(theirs):
    """As of a file that root made and kept."""
    orders = theirs / FILE
    orders.write_bytes(b"")
    orders.chmod(0o600 if ROOT else 0)
    with as_owner():
        assert "cannot be read by" in OrderFile(theirs).distrusted()
        with pytest.raises(ConfigError, match=f"chown {NAME}"):
            give(theirs, CrawlOrder("pause"))


def test_root_asks_the_crawl_of_its_owner(theirs, monkeypatch):
    monkeypatch.setattr(live_line, "peer_uid", lambda _: SERVICE)  # as if its process had that user
    with as_owner():
        listening = bound(theirs, live_line.NAME)
        assert listening is not None
        listening.listen()

    def answer() -> None:
        connected, _ = listening.accept()
        with connected:
            assert connected.recv(1000) == b'{"ask":"ping"}\n'
            connected.sendall(b'{"read":1}\n')

    with listening, as_owner(), Lock.take(theirs, "evercrawl crawl", 1e9) as lock:
        lock.tell(live_line.NAME)
        with as_root():
            see_plain(theirs)
            thread = threading.Thread(target=answer, daemon=True)
            thread.start()
            assert live_line.ask(theirs, {"ask": "ping"}, 5.0) == {"read": 1}
            thread.join(5)
            give(theirs, CrawlOrder("pause"))


@pytest.mark.skipif(not ROOT, reason="only root can give a socket away")
def test_a_socket_of_a_third_user_is_refused_with_what_to_do(theirs):
    listening = bound(theirs, live_line.NAME)
    assert listening is not None
    with listening:
        os.chown(theirs / live_line.NAME, 54322, 54322)
        with pytest.raises(StoreError, match="socket of user 54322, and you are root: if user 54322 runs the crawl"):
            see_plain(theirs)


def test_a_file_system_that_gives_all_files_to_one_user_is_no_obstacle(theirs, monkeypatch):
    monkeypatch.setattr(owner.tempfile, "TemporaryFile", lambda **_: (theirs / "crawl.json").open("rb"))
    Lock.take(theirs, "test", 1e9).release()
