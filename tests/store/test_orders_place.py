"""Orders that were waiting in a directory that came from elsewhere: nobody here has given them."""

import asyncio
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from evercrawl.ask.orders.give import give
from evercrawl.ask.orders.listing import listed
from evercrawl.cli.main import main
from evercrawl.cli.verbs.starting.crawl import vouch
from evercrawl.cluster.birth import ClusterBirth, part_directory, write_birth
from evercrawl.config import FILE_NAME, Config
from evercrawl.crawl.orders.forgets import obey_forgets
from evercrawl.crawl.session import crawl
from evercrawl.model.stored.reader import opened
from evercrawl.progress import Limits, Progress
from evercrawl.simulate.surroundings.loopback import NETWORK, Loopback
from evercrawl.store.backups.backup import backup
from evercrawl.store.orders import FILE, FORGET, CrawlOrder, OrderFile, along_in_words, append, came_along, named
from evercrawl.store.orders_place import PLACE_FILE, SECRET_FILE, UNKNOWN, given_since

CONFIG = Config(delay_s=0.0, allow_net=(NETWORK,), workers="0", index=False)
SET = CrawlOrder("set", name='site."a.example".delay_s', values=("5s",))
TRIES = 30
NEVER = CrawlOrder("exclude", pattern="/never/")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    directory = tmp_path_factory.mktemp("orders") / "crawl"

    async def go() -> None:
        async with Loopback(hosts=1, pages=2, changing=0) as server:
            await crawl(directory, CONFIG, server.seeds, Limits(until_idle=True, seconds=600))

    asyncio.run(go())
    return directory


@pytest.fixture
def made(crawled, tmp_path):
    """Return a crawl in which two orders wait."""
    directory = shutil.copytree(crawled, tmp_path / "made")
    give(directory, SET)
    give(directory, NEVER)
    return directory


def states(directory: Path) -> list[str]:
    one = opened(directory)
    try:
        return [order.state for order in listed(one, 100).orders]
    finally:
        one.close()


def trouble(directory: Path) -> str:
    one = opened(directory)
    try:
        return listed(one, 100).trouble
    finally:
        one.close()


def run(directory: Path, wanted: Sequence[str] = ()) -> set[str]:
    """Start the crawl for a moment, again until orders are as wanted; return what it said."""
    said = set[str]()

    def watch(progress: Progress) -> None:
        said.add(progress.message)

    for _ in range(TRIES):  # on a busy machine, a moment may be too short
        asyncio.run(crawl(directory, CONFIG, [], Limits(seconds=0.2), watch=watch))
        if not wanted or states(directory) == list(wanted):
            break
    return said


@pytest.mark.parametrize("how", ["cp", "cp -a", "backup"])
def test_orders_that_came_with_a_directory_wait_until_a_person_says_so(made, tmp_path, how, capsys):
    came = tmp_path / "came"
    if how == "backup":
        backup(made, came, 1.0)
    else:
        shutil.copytree(made, came, copy_function=shutil.copy if how == "cp" else shutil.copy2)
    settings = (came / FILE_NAME).read_bytes()
    assert along_in_words(2) in run(came)
    assert states(came) == ["waits", "waits"]
    assert (came / FILE_NAME).read_bytes() == settings
    assert main(["orders", "--dir", str(came)]) == 0
    assert along_in_words(2) in capsys.readouterr().out
    assert main(["crawl", "--dir", str(came), "--obey-orders", "--seconds", "0.2", "--quiet"]) == 0
    run(came, ["done", "done"])
    assert states(came) == ["done", "done"]
    assert (came / FILE_NAME).read_bytes() != settings
    assert trouble(came) == ""


def test_orders_that_were_given_here_are_obeyed_also_after_the_directory_was_renamed(made, tmp_path):
    made.rename(tmp_path / "renamed")
    assert along_in_words(2) not in run(tmp_path / "renamed", ["done", "done"])
    assert states(tmp_path / "renamed") == ["done", "done"]


def test_an_order_that_is_given_here_is_obeyed_and_those_that_came_are_refused(made, tmp_path):
    came = shutil.copytree(made, tmp_path / "came")
    with (came / FILE).open("ab") as file:
        file.write(b'{"do":"exclude","id":"cut","pattern":"/cut/"}')  # a line that the next one completes
    give(came, CrawlOrder("pause"))
    run(came, ["refused"] * 3 + ["done"])
    assert states(came) == ["refused"] * 3 + ["done"]
    assert "/cut/" not in (came / FILE_NAME).read_text()


def test_nothing_is_forgotten_for_an_order_that_came_with_a_directory(crawled, tmp_path):
    made = shutil.copytree(crawled, tmp_path / "made")
    give(made, CrawlOrder(FORGET, urls=("/p/1",)))
    came = shutil.copytree(made, tmp_path / "came")
    assert obey_forgets(came) == 0
    run(came)
    assert states(came) == ["waits"]
    assert obey_forgets(made) == 1


def test_nobody_can_send_a_directory_that_says_it_was_made_here(made, tmp_path):
    for name in (SECRET_FILE, PLACE_FILE):
        came = shutil.copytree(made, tmp_path / f"without-{name}")
        (came / name).unlink()
        assert given_since(came / FILE) == UNKNOWN
        (came / name).symlink_to(made / name)
        assert given_since(came / FILE) == UNKNOWN
    assert given_since(made / FILE) == 0
    (made / FILE).write_bytes((made / FILE).read_bytes())
    assert given_since(made / FILE) == 0
    shutil.copy(made / FILE, made / "other")
    (made / "other").replace(made / FILE)  # as tar replaces it
    assert given_since(made / FILE) == UNKNOWN


@pytest.mark.parametrize(("name", "value"), [("st_ino", 9), ("st_ctime_ns", 9), ("st_mtime_ns", None)])
def test_a_copied_secret_with_another_number_or_time_shows_nothing(made, monkeypatch, name, value):
    """Each of them alone tells a copy: a sender may know one, such as the time that an archive sets."""
    assert given_since(made / FILE) == 0
    about = (made / SECRET_FILE).lstat()
    other = SimpleNamespace(
        st_mode=about.st_mode, st_ino=about.st_ino, st_ctime_ns=about.st_ctime_ns, st_mtime_ns=about.st_mtime_ns
    )
    setattr(other, name, value)
    real = Path.lstat
    monkeypatch.setattr(Path, "lstat", lambda path: other if path.name == SECRET_FILE else real(path))
    assert given_since(made / FILE) == (UNKNOWN if value else 0)


def test_orders_in_partitions_wait_too_until_a_person_says_so(tmp_path):
    wide = tmp_path / "wide"
    wide.mkdir()
    write_birth(wide, ClusterBirth(1, "crawl", 2, "00" * 16, 0))
    parts = [part_directory(wide, number) for number in range(2)]
    for part in parts:
        part.mkdir()
        append(part, [named(NEVER, 1.0, "ann")])
    shutil.copytree(wide, tmp_path / "came")
    came = [OrderFile(part_directory(tmp_path / "came", number)) for number in range(2)]
    assert [came_along(each, 0, ()) for each in came] == [1, 1]
    vouch(tmp_path / "came")
    assert [came_along(each, 0, ()) for each in came] == [0, 0]
    assert [came_along(OrderFile(part), 0, ()) for part in parts] == [0, 0]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_root_notes_of_a_place_is_the_crawl_owners(tmp_path):
    (tmp_path / "crawl.json").write_text("{}")
    os.chown(tmp_path / "crawl.json", 12345, 12345)
    append(tmp_path, [named(NEVER, 1.0, "root")])
    assert {(tmp_path / name).stat().st_uid for name in (FILE, SECRET_FILE, PLACE_FILE)} == {12345}
    assert given_since(tmp_path / FILE) == 0
