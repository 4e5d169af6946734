"""Search in scripts that write no blanks between words."""

import time
from pathlib import Path

import pytest

from evercrawl.search.index import Index, IndexedPage
from evercrawl.search.query import parse
from evercrawl.search.schema import words_of
from evercrawl.search.segment import may_be_unsegmented, segmented
from evercrawl.search.snippet import marked, snippet

THAI = Path(__file__).parents[2] / "bench" / "kept" / "thai.tsv"
TEXTS = (
    ("安装系统", "请先准备安装介质、然后重新启动计算机、并选择语言和键盘布局。"),
    ("备份数据", "定期备份数据库可以避免磁盘损坏时丢失资料。"),
    ("インストール", "インストーラを起動して言語とキーボードを選びます。"),
    ("データのバックアップ", "データベースを定期的にバックアップすると、障害が起きても復元できます。"),
    ("English", "How to back up a database, in English words."),
)


def index(texts) -> Index:
    made = Index(None)
    made.put(
        [
            IndexedPage(slot, slot, f"http://example.org/{slot}", "example.org", "example.org", title, text.encode())
            for slot, (title, text) in enumerate(texts)
        ]
    )
    made.commit(1)
    return made


def first(made: Index, query: str) -> int:
    found = made.search(parse(query))
    return int(found.slot[(found.text + 4 * found.phrase).argmax()]) if len(found.slot) else -1


@pytest.mark.parametrize(
    ("query", "slot"),
    [
        ("数据库", 1), ("磁盘损坏", 1), ("键盘布局", 0), ("启动计算机", 0), ('"定期备份"', 1), ("備", -1), ("磁", 1),
        ("データベース", 3), ("言語", 2), ("キーボード", 2), ("復元", 3), ("back up", 4), ("障害 復元", 3),
    ],
)  # fmt: skip
def test_words_are_found_within_sentences(query, slot):
    assert first(index(TEXTS), query) == slot


def test_what_is_left_out_leaves_pages_out():
    found = index(TEXTS).search(parse("备份 -数据库"))
    assert 1 not in found.slot.tolist()


def test_thai_questions_find_their_texts():
    rows = [line.split("\t") for line in THAI.read_text(encoding="utf-8").splitlines()]
    made = index([(title, text) for title, text, _ in rows])
    right = sum(first(made, query) == slot for slot, (_, _, query) in enumerate(rows))
    assert right >= 34  # of 36; 20 where words were cut at tone marks alone


def test_other_scripts_are_left_alone():
    for text in (
        "plain words",
        "caf\u00e9 \u2013 \u201cquoted\u201d",
        "\u043f\u0440\u0438\u0432\u0435\u0442",
        "\ud55c\uad6d\uc5b4 \ubb38\uc7a5",
    ):
        assert segmented(text) is text
    assert not may_be_unsegmented("caf\u00e9 \u2013 \u201cquoted\u201d \u043f\u0440\u0438".encode())
    assert words_of("Hash-tables und \u00d6PNV") == ["hash", "tables", "und", "\u00f6pnv"]


def test_words_are_marked_in_titles_and_parts():
    forms = index(TEXTS).search(parse("数据库")).forms
    shown = marked("备份数据库", forms)
    assert [shown.text[start:end] for start, end in shown.marks] == ["数据库"]
    part = snippet("前言。" * 200 + "定期备份数据库可以避免丢失。" + "结尾。" * 200, forms)
    assert [part.text[start:end] for start, end in part.marks] == ["数据库"]


def test_thai_words_are_marked_with_their_tone_marks():
    forms = (
        index([("\u0e19\u0e49\u0e33\u0e23\u0e49\u0e2d\u0e19", "x")])
        .search(parse("\u0e19\u0e49\u0e33\u0e23\u0e49\u0e2d\u0e19"))
        .forms
    )
    shown = marked("\u0e15\u0e49\u0e21\u0e19\u0e49\u0e33\u0e23\u0e49\u0e2d\u0e19\u0e41\u0e25\u0e49\u0e27", forms)
    assert [shown.text[start:end] for start, end in shown.marks] == ["\u0e19\u0e49\u0e33\u0e23\u0e49\u0e2d\u0e19"]


def test_a_long_text_takes_bounded_time():
    began = time.process_time()
    assert len(segmented("数据" * 5_000_000)) < 1_000_000
    assert time.process_time() - began < 2
