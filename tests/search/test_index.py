"""The index keeps what was committed, forgets what was not, and says what to do when it is damaged."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evercrawl.errors import StoreError
from evercrawl.search.index import FOLDER, NOTHING, Index, IndexedPage, erase
from evercrawl.search.query import parse
from evercrawl.search.schema import anchors_document


def page(slot: int, text: str = "", title: str = "", digest: int = 0, language: str = "en") -> IndexedPage:
    host = f"www.site{slot % 3}.example"
    return IndexedPage(slot, digest or slot + 1, f"http://{host}/{slot}", host[4:], host, title, text, language)


def slots(index: Index, words: str) -> list[int]:
    found = index.search(parse(words))
    assert found.slot.tolist() == sorted(found.slot.tolist())
    return found.slot.tolist()


@pytest.fixture(params=["memory", "disk"])
def index(request, tmp_path):
    made = Index(None if request.param == "memory" else tmp_path / FOLDER)
    yield made
    made.close()


def test_a_new_index_holds_nothing(index):
    held, digests = index.held()
    assert (index.at, held.tolist(), digests.tolist()) == (NOTHING, [], [])
    assert (held.dtype, digests.dtype) == (np.uint32, np.uint64)
    assert slots(index, "anything") == []


def test_pages_are_found_once_they_are_committed(index):
    index.put([page(5, "green tea"), page(3, "black tea")])
    assert slots(index, "tea") == []
    index.commit(9)
    assert (index.at, slots(index, "tea"), slots(index, "green")) == (9, [3, 5], [5])


def test_a_page_takes_the_place_of_what_there_was_of_its_slot(index):
    index.put([page(1, "first", digest=11)])
    index.put([page(1, "second", digest=(1 << 64) - 1)])  # the same commit
    index.commit(1)
    assert (slots(index, "first"), slots(index, "second")) == ([], [1])
    index.put([page(1, "third", digest=13)])
    index.commit(2)
    assert (slots(index, "second"), slots(index, "third")) == ([], [1])
    held, digests = index.held()
    assert (held.tolist(), digests.tolist()) == ([1], [13])


def test_digests_of_64_bits_come_back(index):
    index.put([page(300_000_000, digest=(1 << 64) - 1), page(2, digest=1 << 63)])
    index.commit(0)
    held, digests = index.held()
    assert held.tolist() == [2, 300_000_000]
    assert digests.tolist() == [1 << 63, (1 << 64) - 1]


def test_links_to_a_page_find_it(index):
    index.put([page(1, "one"), page(2, "two")])
    index.add_anchors([(2, "the teapot"), (2, "the teapot"), (8, "a teapot that nobody has read")])
    index.commit(0)
    found = index.search(parse("teapot"))
    assert found.slot.tolist() == [2]  # what is no page of the index is no answer
    assert (found.text.tolist(), found.anchor[0] > 0) == ([0.0], True)


def test_links_are_kept_when_the_page_changes_and_forgotten_with_it(index):
    index.add_anchors([(2, "teapot")])
    index.commit(0)
    index.put([page(2, "two")])
    index.commit(1)
    assert slots(index, "teapot") == [2]
    index.remove([2])
    index.add_anchors([(2, "kettle")])
    index.put([page(2, "again")])
    index.commit(2)
    assert (slots(index, "teapot"), slots(index, "kettle")) == ([], [2])


def test_links_not_yet_written_are_forgotten_with_their_page(index):
    index.put([page(2, "two")])
    index.add_anchors([(2, "teapot")])
    index.remove([2])
    index.put([page(2, "two")])
    index.commit(0)
    assert slots(index, "teapot") == []


def test_what_is_removed_is_gone_after_the_commit(index):
    index.put([page(1, "tea"), page(2, "tea")])
    index.commit(0)
    index.remove([1, 77])
    assert slots(index, "tea") == [1, 2]
    index.commit(1)
    assert (slots(index, "tea"), index.held()[0].tolist()) == ([2], [2])


def test_what_is_abandoned_never_was(index):
    index.put([page(1, "tea")])
    index.add_anchors([(1, "teapot")])
    index.commit(4)
    index.put([page(2, "tea"), page(1, "coffee")])
    index.add_anchors([(1, "kettle")])
    index.abandon()
    index.commit(5)
    assert (slots(index, "tea"), slots(index, "coffee"), slots(index, "kettle")) == ([1], [], [])
    index.put([page(1, "milk", digest=3)])  # and it is still known which pages there are
    index.commit(6)
    assert (index.held()[0].tolist(), slots(index, "tea"), slots(index, "teapot")) == ([1], [], [1])


def test_after_a_failed_commit_it_can_be_written_again_while_the_error_is_in_hand(tmp_path):
    """The error's traceback holds what the failed call held: were that the library's writer, its lock would stay."""
    index = Index(tmp_path / FOLDER)
    index.put([page(1, "tea")])
    index.commit(1)
    index.put([page(2, "coffee")])
    index.add_anchors([(2, "cup")])
    away = [(part, part.with_name(f"{part.name}-away")) for part in (tmp_path / FOLDER).iterdir() if part.is_dir()]
    for part, other in away:
        part.rename(other)
    with pytest.raises(StoreError) as failed:
        index.commit(2)
    for part, other in away:
        shutil.rmtree(part, ignore_errors=True)
        other.rename(part)
    index.abandon()
    assert failed.value.__cause__ is not None
    index.put([page(3, "milk")])
    index.commit(3)
    assert (slots(index, "tea"), slots(index, "coffee"), slots(index, "milk")) == ([1], [], [3])


def test_it_is_there_when_it_is_opened_again(tmp_path):
    first = Index(tmp_path / FOLDER)
    first.put([page(1, "tea", digest=7)])
    first.commit(41)
    first.put([page(2, "lost")])
    first.close()
    second = Index(tmp_path / FOLDER)
    assert (second.at, slots(second, "tea"), second.held()[1].tolist()) == (41, [1], [7])
    second.put([page(1, "coffee")])  # in place of what was there, though this run did not put it there
    second.commit(42)
    assert (slots(second, "tea"), second.held()[0].tolist()) == ([], [1])
    second.close()


def test_a_reader_sees_each_commit_of_a_writer(tmp_path):
    writer = Index(tmp_path / FOLDER)
    writer.put([page(1, "tea")])
    writer.commit(1)
    reader = Index(tmp_path / FOLDER, writable=False)
    assert (reader.at, slots(reader, "tea")) == (1, [1])
    writer.put([page(2, "tea")])
    writer.remove([1])
    assert slots(reader, "tea") == [1]
    writer.commit(2)
    assert (slots(reader, "tea"), reader.at) == ([2], 2)
    assert reader.refresh() is False
    writer.close()


def test_only_one_may_write(tmp_path):
    index = Index(tmp_path / FOLDER)
    with pytest.raises(StoreError, match="written by another process"):
        Index(tmp_path / FOLDER)
    index.close()
    Index(tmp_path / FOLDER).close()


def test_there_must_be_one_to_read(tmp_path):
    with pytest.raises(StoreError, match=f"no search index.*evercrawl reindex --dir {tmp_path}"):
        Index(tmp_path / FOLDER, writable=False)
    assert not (tmp_path / FOLDER).exists()


def _filled(folder: Path) -> None:
    index = Index(folder)
    index.put([page(i, f"tea and word{i}") for i in range(50)])
    index.add_anchors([(i, "a link") for i in range(50)])
    index.commit(3)
    index.close()


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"version": 99, "at": 3}', b'{"version": 1, "at": 3}', b'{"at": "x"}']
)
def test_a_mark_that_makes_no_sense_is_refused(tmp_path, content):
    _filled(tmp_path / FOLDER)
    (tmp_path / FOLDER / "index.json").write_bytes(content)
    for writable in (True, False):
        with pytest.raises(StoreError, match=f"evercrawl reindex --dir {tmp_path}"):
            Index(tmp_path / FOLDER, writable=writable)
    erase(tmp_path / FOLDER)
    assert Index(tmp_path / FOLDER).held()[0].tolist() == []


@pytest.mark.parametrize("folder", ["pages", "anchors"])
@pytest.mark.parametrize("harm", ["empty", "cut", "missing", "foreign"])
def test_damage_is_a_sentence_never_a_panic(tmp_path, folder, harm):
    """Whatever is broken, each use either works or says what to do."""
    _filled(tmp_path / "sound")
    refused: list[str] = []
    names = sorted(path.name for path in (tmp_path / "sound" / folder).iterdir() if not path.name.endswith(".lock"))
    for name in names:
        erase(tmp_path / FOLDER)
        shutil.copytree(tmp_path / "sound", tmp_path / FOLDER)
        for path in sorted((tmp_path / FOLDER / folder).iterdir()):
            if path.suffix == Path(name).suffix and not path.name.endswith(".lock"):
                _harm(path, harm)
        try:
            index = Index(tmp_path / FOLDER)
            index.search(parse('tea "a link" word7'))
            index.held()
            index.put([page(7, "tea")])
            index.remove([8])
            index.commit(4)
        except StoreError as error:
            refused.append(str(error))
        else:
            index.close()
    assert len(refused) > len(names) // 3
    assert all(f"evercrawl reindex --dir {tmp_path}" in sentence for sentence in refused)


@pytest.mark.parametrize("folder", ["pages", "anchors"])
def test_an_index_that_lost_its_list_of_parts_is_not_taken_for_an_empty_one(tmp_path, folder):
    _filled(tmp_path / FOLDER)
    (tmp_path / FOLDER / folder / "meta.json").unlink()
    with pytest.raises(StoreError, match=f"evercrawl reindex --dir {tmp_path}"):
        Index(tmp_path / FOLDER)


def _harm(path: Path, harm: str) -> None:
    content = path.read_bytes()
    if harm == "missing":
        path.unlink()
    else:
        path.write_bytes({"empty": b"", "cut": content[: len(content) // 2], "foreign": b"\xff" * 300}[harm])


_WRITES_ON = """
import sys
from pathlib import Path
from evercrawl.search.index import Index, Page
index = Index(Path(sys.argv[1]))
at = index.at
while True:
    at += 1
    slots = range(at * 20, at * 20 + 20)
    index.put([Page(slot, at, "http://a.example/", "a.example", "a.example", "t", f"tea {at}") for slot in slots])
    index.add_anchors([(at * 20, f"link {at}")])
    index.commit(at)
    print(at, flush=True)
"""


def test_a_killed_writer_leaves_an_index_that_opens(tmp_path):
    said = -1
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", _WRITES_ON, str(tmp_path / FOLDER)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        for _ in range(4):
            said = int(process.stdout.readline() or said)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        rest = process.stdout.read().split()
        process.stdout.close()
        said = max([said, *map(int, rest)])
        index = Index(tmp_path / FOLDER)
        held = set(index.held()[0].tolist())
        assert index.at >= said
        assert held >= set(range(20 * (index.at + 1)))
        assert len(held) % 20 == 0
        index.close()


def test_words_of_links_are_written_a_piece_at_a_time(index, monkeypatch):
    """All that waited were, in a tenth of a second, in which the crawl did nothing else."""
    written = []

    def noted(slot, words):  # noqa: ANN202
        written.append(slot)
        return anchors_document(slot, words)

    monkeypatch.setattr("evercrawl.search.index.anchors_document", noted)
    index.put([page(3, "three")])
    index.add_anchors((slot, "teapot") for slot in range(1 << 16))
    assert not written
    assert index.crowding == 1.0
    index.add_anchors([(1 << 16, "teapot")])
    assert index.crowding > 1.0
    assert not written
    index.write_waiting()
    assert written == list(range(1 << 6))  # those that have waited longest
    assert index.crowding < 1.0
    index.add_anchors([(3, "kettle")])
    assert len(written) == 1 << 6
    index.commit(0)
    assert len(written) == (1 << 16) + 2
    assert (slots(index, "kettle"), slots(index, "teapot")) == ([3], [3])


def test_words_of_links_that_nobody_writes_are_bounded_all_the_same(index):
    for first in range(0, 3 << 16, 1 << 16):
        index.add_anchors((slot, "teapot") for slot in range(first, first + (1 << 16)))
    assert 1.9 < index.crowding <= 2.0
