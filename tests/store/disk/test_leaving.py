"""Orders to a partition that is being moved: each is written before the last copy, or refused."""

import fcntl
import os
import threading

import pytest
from hand_made import HandMade

from evercrawl.cli.verbs.steering import moving
from evercrawl.cli.verbs.steering.moving import once_placed
from evercrawl.cluster.birth import ClusterBirth, write_birth
from evercrawl.cluster.hauling.lending import Lending
from evercrawl.cluster.moving.transfer import finish
from evercrawl.errors import ConfigError, StoreError
from evercrawl.model.worth.usage import Question, UsageWriter
from evercrawl.store.backups.backup import OF_PEOPLE
from evercrawl.store.disk import leaving
from evercrawl.store.disk.leaving import MOVE, LeavingError, close_to_people, mark_staying
from evercrawl.store.disk.lock import Lock
from evercrawl.store.disk.moved import LEAVING, MOVED, moved_to
from evercrawl.store.orders import FILE, CrawlOrder, append, named

ORDER = named(CrawlOrder("pause"), 1.0, "ann")


def test_a_directory_that_is_being_left_takes_no_orders_and_no_usage(tmp_path):
    append(tmp_path, [ORDER])
    before = (tmp_path / FILE).read_bytes()
    with Lock.take(tmp_path, MOVE, 1.0):
        with pytest.raises(LeavingError, match="is being moved to another place; give this again"):
            append(tmp_path, [ORDER])
        with pytest.raises(LeavingError):
            UsageWriter(tmp_path).add([Question(1.0, "tea", ())])
    with Lock.take(tmp_path, "evercrawl backup", 1.0):
        append(tmp_path, [ORDER])
    assert (tmp_path / FILE).read_bytes() == 2 * before


def test_the_mark_of_a_directory_that_is_left_lasts_until_its_partition_is_crawled_there(tmp_path):
    (tmp_path / LEAVING).write_text("{}")
    with pytest.raises(LeavingError, match="start the crawl first"):
        append(tmp_path, [ORDER])
    mark_staying(tmp_path)
    mark_staying(tmp_path)
    append(tmp_path, [ORDER])
    (tmp_path / MOVED).write_bytes(moved_to("the disk x", 3))
    with pytest.raises(ConfigError, match="was moved to the disk x"):
        append(tmp_path, [ORDER])


def test_what_somebody_has_begun_to_append_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(leaving, "LOOK_S", 0.001)
    close_to_people(tmp_path, (FILE, "usage.jsonl"))  # there is none
    append(tmp_path, [ORDER])
    with (tmp_path / FILE).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = list[int]()
        waiting = threading.Thread(target=lambda: done.append(close_to_people(tmp_path, (FILE,)) or 1))
        waiting.start()
        waiting.join(0.02)
        assert not done
        os.write(file.fileno(), b"\n")
    waiting.join(5)
    assert done == [1]
    monkeypatch.setattr(leaving, "PATIENCE_S", 0.0)
    with (tmp_path / FILE).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match="has been writing to"):
            close_to_people(tmp_path, (FILE,))


@pytest.mark.parametrize("name", OF_PEOPLE)
def test_a_partition_does_not_move_while_somebody_appends(tmp_path, monkeypatch, name):
    """On this machine, and from one machine to another."""
    monkeypatch.setattr(leaving, "PATIENCE_S", 0.0)
    crawl = HandMade(tmp_path / "part-0")
    crawl.save()
    crawl.stop()
    write_birth(tmp_path, ClusterBirth(1, "c", 2, "00" * 16, 0))
    (goal := tmp_path / "goal").mkdir()
    lent = Lending(tmp_path, 0)
    with (tmp_path / "part-0" / name).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match="has been writing to"):
            lent.lock()
        lent.unlock()
        with pytest.raises(StoreError, match="has been writing to"):
            finish(tmp_path, 0, goal, lambda: None)
    assert list(goal.iterdir()) == []
    lent.lock()
    lent.close()


def test_an_order_waits_until_its_partition_is_in_its_place(monkeypatch, capsys):
    monkeypatch.setattr(moving, "LOOK_S", 0.0)
    tries = iter([LeavingError("moves"), LeavingError("moves"), None])

    def give() -> int:
        if (error := next(tries)) is not None:
            raise error
        return 7

    assert once_placed(give) == 7
    assert capsys.readouterr().err == "evercrawl: waiting: the partition is being moved\n"
    tries = iter([LeavingError("moves")])
    with pytest.raises(LeavingError):
        once_placed(give, 0.0)
