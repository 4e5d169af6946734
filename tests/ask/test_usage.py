"""What people are told to do is kept whole, counted once, and seen by whoever follows the file."""

import io
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evercrawl.ask.usage.report import usage_report
from evercrawl.ask.usage.tell import LONGEST_LINE, question, take_in
from evercrawl.errors import StoreError
from evercrawl.model.stored.reader import opened
from evercrawl.model.web.known_graph import KnownGraph
from evercrawl.model.worth.query_match import Similarity
from evercrawl.model.worth.query_words import HALF_LIFE_S, QueryWords
from evercrawl.model.worth.usage import USAGE_FILE, Question, Tail, UsageWriter
from evercrawl.model.worth.usage_counts import PLACES, Following, UsageCounts

SITE = "http://example.org"
A, B, C = f"{SITE}/a", f"{SITE}/b", f"{SITE}/c"


def written(directory):
    return list(Tail(directory / USAGE_FILE).all())


def test_what_was_added_is_read_back(tmp_path):
    asked = [Question(1.5, "käse", (A, B), (B,)), Question(2.0, "", (), (A,), "7")]
    UsageWriter(tmp_path).add(asked)
    assert written(tmp_path) == asked


def test_lines_that_an_older_version_wrote_are_read(tmp_path):
    (tmp_path / USAGE_FILE).write_text(f'{{"at":1.5,"query":"tea","shown":["{A}"],"clicked":["{A}"]}}\n')
    assert written(tmp_path) == [Question(1.5, "tea", (A,), (A,))]
    assert not written(tmp_path)[0].follows


def test_clicks_told_with_their_places_are_taken_in():
    line = f'{{"at": 1, "clicked": ["{A}"], "id": "q", "places": [3]}}'
    assert question(line.encode()) == Question(1.0, clicked=(A,), id="q", places=(3,))
    for wrong in (line.replace("[3]", "[3, 4]"), line.replace("[3]", "[-1]")):
        with pytest.raises(ValueError, match="places must have one number"):
            question(wrong.encode())


def test_a_question_counts_once_also_where_another_writer_told_it(tmp_path):
    one, other = UsageWriter(tmp_path), UsageWriter(tmp_path)
    one.add([Question(1.0, "tea"), Question(1.0, "tea")])
    other.add([Question(1.0, "tea"), Question(1.0, "tea", id="2")])
    one.add([Question(1.0, "tea", id="2")])
    assert written(tmp_path) == [Question(1.0, "tea"), Question(1.0, "tea", id="2")]
    assert (one.added, one.again, other.added, other.again) == (1, 2, 1, 1)


def test_a_torn_line_is_ended_and_costs_no_other(tmp_path):
    UsageWriter(tmp_path).add([Question(1.0, "tea")])
    file = tmp_path / USAGE_FILE
    file.write_bytes(file.read_bytes() + b'{"at":2.0,"que')
    tail = Tail(file)
    assert (list(tail.all()), tail.damaged) == ([Question(1.0, "tea")], 0)
    assert not tail.more()
    UsageWriter(tmp_path).add([Question(3.0, "milk")])
    assert (list(tail.all()), tail.damaged) == ([Question(3.0, "milk")], 1)


def test_whoever_is_killed_while_adding_loses_nothing_that_was_told(tmp_path):
    script = (
        "import sys, pathlib\n"
        "from evercrawl.model.worth.usage import Question, UsageWriter\n"
        "writer = UsageWriter(pathlib.Path(sys.argv[1]))\n"
        "for i in range(10**9):\n"
        "    writer.add([Question(float(i), 'word ' * 50)] * 1, once=False)\n"
        "    print(i, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        told = [int(process.stdout.readline()) for _ in range(20)]
        process.send_signal(signal.SIGKILL)
        told += [int(line) for line in process.stdout.read().split()]
    found = [int(one.at) for one in written(tmp_path)]
    assert found[: len(told)] == told
    UsageWriter(tmp_path).add([Question(0.5, "after")])
    assert written(tmp_path)[-1] == Question(0.5, "after")


def test_a_disk_that_refuses_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    writer = UsageWriter(tmp_path)
    writer.add([Question(1.0, "tea")])
    before = (tmp_path / USAGE_FILE).read_bytes()

    def refuse(_file: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        with pytest.raises(StoreError, match=USAGE_FILE):
            writer.add([Question(2.0, "milk")])
    assert (tmp_path / USAGE_FILE).read_bytes() == before


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"nonsense", "malformed"),
        (b'{"query": "tea"}', "at"),
        (b'{"at": 1}', "there is no query"),
        (b'{"at": -1, "query": "tea"}', "time since 1970"),
        (b'{"at": "soon", "query": "tea"}', "2024-05-01"),
        (b'{"at": 1, "shown": ["ftp://a/"]}', "'ftp://a/' in shown"),
        (b'{"at": 1, "clicked": "http://a/"}', "clicked"),
        (b'{"at": 1, "query": "\xff"}', "write"),
        (json.dumps({"at": 1, "shown": [A] * 1001}).encode(), "1,001 URLs"),
    ],
)
def test_a_bad_line_says_what_is_wrong_with_it(line, why):
    with pytest.raises(ValueError, match="(?i)" + why.replace("(", "\\(")):
        question(line)


def test_bad_lines_are_numbered_and_lose_nothing_else(tmp_path):
    good = [json.dumps({"at": i, "query": f"tea {i}"}).encode() for i in range(4)]
    lines = [good[0], b"", b"bad", good[1], b"x" * (LONGEST_LINE + 5), good[2], b'{"at": 1}', good[3]]
    writer = UsageWriter(tmp_path)
    bad = list(take_in(io.BytesIO(b"\n".join(lines)), writer))
    assert [line.number for line in bad] == [3, 5, 7]
    assert [one.at for one in written(tmp_path)] == [0.0, 1.0, 2.0, 3.0]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(st.just(None), st.binary(max_size=60)), max_size=12), st.integers(1, 50))
def test_whatever_stands_between_them_good_lines_are_taken_in(tmp_path, between, step):
    class Stream(io.BytesIO):
        def read1(self, size: int = -1) -> bytes:
            return super().read1(step)

    lines, good = [], 0
    for noise in between:
        good += noise is None
        lines.append(json.dumps({"at": good, "query": "tea"}).encode() if noise is None else noise.replace(b"\n", b""))
    with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
        bad = list(take_in(Stream(b"\n".join(lines)), UsageWriter(Path(folder))))
        found = written(Path(folder))
    assert [one.at for one in found if one.query == "tea"] == [float(i + 1) for i in range(good)]
    assert len(bad) + len(found) == sum(line.strip() != b"" for line in lines)


def test_what_comes_in_pieces_is_taken_in_as_it_comes(tmp_path):
    class Stream(io.BytesIO):
        def read1(self, size: int = -1) -> bytes:
            seen.append(len(written(tmp_path)))
            return super().read1(7)

    seen: list[int] = []
    text = b"".join(json.dumps({"at": i, "query": "tea"}).encode() + b"\n" for i in range(5))
    assert not list(take_in(Stream(text), UsageWriter(tmp_path)))
    assert seen == sorted(seen)
    assert set(seen) == {0, 1, 2, 3, 4, 5}


def slots_of(made, *urls: str):
    known = made.state.urls.get_many(range(made.state.known.count))
    return np.array([known.index(url) for url in urls], np.uint32)


def test_the_columns_follow_the_file(made):
    made.seed(A, B, C)
    known = KnownGraph(made.partition, ("retrieved", "clicked"))
    slots = slots_of(made, A, B, C)
    asked = known.of(slots)
    assert asked["retrieved"].tolist() == asked["clicked"].tolist() == [0, 0, 0]
    UsageWriter(made.directory).add(
        [Question(1.0, "x", (A, B), (B,)), Question(2.0, "y", (B,)), Question(3.0, "", (), (C,))]
    )
    asked = known.of(slots)
    assert asked["retrieved"] == pytest.approx([1, 2, 0], rel=1e-5)
    second = (4 / 12) / (3 / 11)  # nobody has opened what stood first, in two answers
    assert asked["clicked"] == pytest.approx([0, second, 1], rel=1e-5)
    (made.directory / USAGE_FILE).unlink()
    assert known.of(slots)["clicked"].tolist() == [0, 0, 0]


def test_a_page_that_becomes_known_brings_its_counts_along(made):
    made.seed(A)
    counts = UsageCounts(made.state)
    following = Following(made.partition, counts)
    UsageWriter(made.directory).add([Question(1.0, "x", (B,), (B,))])
    assert following.renew()
    assert counts.of(counts.clicked, slots_of(made, A)).tolist() == [0.0]
    made.visit(A, made.page("A", "/b"))
    assert counts.of(counts.clicked, slots_of(made, A, B)).tolist() == [0.0, 1.0]


def test_counts_are_a_fold_whose_order_does_not_matter(made):
    made.seed(A, B, C)
    draw = np.random.default_rng(3)
    urls = [A, B, C, "http://unknown.example/"]
    asked = [
        Question(float(i), "tea", tuple(draw.permutation(urls)[:3]), tuple(draw.permutation(urls)[: i % 3]))
        for i in range(40)
    ]
    first, second = UsageCounts(made.state), UsageCounts(made.state)
    first.learn(asked)
    for one in reversed(asked):
        second.learn([one])
    slots = slots_of(made, A, B, C)
    for name in ("clicked", "shown_at"):
        column = [getattr(of, name) for of in (first, second)]
        rows = [of.rows(slots) for of in (first, second)]
        assert column[0][rows[0]].tolist() == column[1][rows[1]].tolist()
    assert first.clicks_at.tolist() == second.clicks_at.tolist()
    clicks = sum(url in one.shown for one in asked for url in one.clicked)
    assert first.clicks_at.sum() == clicks > 0


def test_places_far_down_count_as_the_last(made):
    made.seed(A)
    counts = UsageCounts(made.state)
    counts.learn([Question(1.0, "x", (*(f"{SITE}/{i}" for i in range(50)), A), (A,))])
    assert counts.shown_at[counts.rows(slots_of(made, A))[0]].nonzero()[0].tolist() == [PLACES - 1]
    assert counts.clicks_at[PLACES - 1] == 1


def test_words_of_late_weigh_more():
    words = QueryWords()
    words.learn([Question(HALF_LIFE_S, "new"), Question(0.0, "old")])
    assert words.weights == pytest.approx({"new": 2 / 3, "old": 1 / 3})
    assert words.usual == pytest.approx(5 / 9)


def test_the_version_tells_when_weights_have_moved():
    words = QueryWords()
    assert words.version == 0
    seen = set()
    for i in range(1000):
        words.learn([Question(0.0, f"word{i % 7}")])
        seen.add(words.version)
    assert 50 < len(seen) < 300
    words.forget()
    assert words.version > max(seen)
    assert words.similarity(["word1"]) == 0.0


def test_a_page_is_like_questions_by_title_and_address(made):
    made.seed(f"{SITE}/tea", f"{SITE}/x", f"{SITE}/y")
    made.visit(f"{SITE}/x", made.page("Green milk"))
    words = QueryWords()
    like = Similarity(made.partition, words)
    slots = slots_of(made, f"{SITE}/tea", f"{SITE}/x", f"{SITE}/y")
    assert like.of(slots).tolist() == [0, 0, 0]
    words.learn([Question(0.0, "green tea")])
    assert like.of(slots).tolist() == [0.5, 0.5, 0.0]
    made.visit(f"{SITE}/y", made.page("Tea, green"))
    assert like.of(slots).tolist() == [0.5, 0.5, 1.0]
    words.learn([Question(0.0, "milk")] * 2)
    assert like.of(slots) == pytest.approx([1 / 6, 5 / 6, 1 / 3])


def test_likeness_is_known_of_any_number_of_pages():
    """Columns of different types grow by different numbers of rows."""
    table = SimpleNamespace(record=np.full(200_000, 1 << 31, np.uint32))
    urls = SimpleNamespace(get_many=lambda slots: [f"{SITE}/tea"] * len(slots))
    records = SimpleNamespace(count=0, rows={"event": np.zeros(1, np.uint64)})
    state = SimpleNamespace(table=table, urls=urls, records=records)
    words = QueryWords()
    words.learn([Question(0.0, "tea")])
    like = Similarity(cast("Any", SimpleNamespace(state=state, journal=None)), words)
    for slot in (149_999, 170_000, 199_999):
        assert like.of(np.array([slot], np.uint32)).tolist() == [1.0]


def test_the_report_tells_what_is_there(made, asked):
    made.seed(A, B)
    made.visit(A, made.page("A"))
    UsageWriter(made.directory).add([Question(5.0, "tea", (A, B), (B,)), Question(9.0, "", (), ("http://no.where/",))])
    with (made.directory / USAGE_FILE).open("ab") as file:
        file.write(b"torn\n")
    report = usage_report(asked())
    assert (report.questions, report.with_words, report.shown, report.clicked) == (2, 1, 2, 2)
    assert (report.pages, report.known, report.first_at, report.last_at, report.damaged) == (3, 2, 5.0, 9.0, 1)
    assert report.words == {"tea": 1.0}
    assert [(page.url, page.shown, page.clicked) for page in report.most_used] == [(B, 1, 1), (A, 1, 0)]


def test_a_long_file_is_followed_piece_by_piece(made):
    made.seed(A)
    counts = UsageCounts(made.state)
    following = Following(made.partition, counts)
    long = [Question(float(i), f"{i} {'word ' * 400}", (A,), (A,) * (i % 2)) for i in range(1500)]
    UsageWriter(made.directory).add(long, once=False)
    assert following.renew()
    assert 0 < counts.questions < 1500
    while following.renew():
        pass
    again = UsageCounts(made.state)
    Following(made.partition, again)
    assert counts.questions == again.questions == 1500
    assert counts.clicked.tolist() == again.clicked.tolist() == [750]


def test_a_line_longer_than_a_piece_is_read_whole(made):
    shown = tuple(f"{SITE}/{'x' * 1500}{i}" for i in range(1000))
    UsageWriter(made.directory).add([Question(1.0, "a"), Question(2.0, "b", shown), Question(3.0, "c")])
    counts = UsageCounts(made.state)
    Following(made.partition, counts)
    assert (counts.questions, int(counts.shown.sum())) == (3, 1000)


def test_a_question_writes_nothing(filled):
    before = sorted(path.name for path in filled.directory.iterdir())
    crawl = opened(filled.directory)
    KnownGraph(crawl, ("clicked",)).of(np.zeros(1, np.uint32))
    crawl.close()
    assert sorted(path.name for path in filled.directory.iterdir()) == before
