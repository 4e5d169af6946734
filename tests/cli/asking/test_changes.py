"""What changed, as people and programs are told: on crawls made by hand, and of a real server that changes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import feedparser
import pytest

from evercrawl.ask.changes.page_change import PageChange
from evercrawl.cli.main import main
from evercrawl.cli.show.changes_lines import change_line
from tests.helpers.hand_made import SITE, HandMade

TEXT = "many words stand on this page and most of them stay"


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[HandMade]:
    made = HandMade(tmp_path / "crawl")
    made.seed(f"{SITE}/")
    made.visit(f"{SITE}/", made.page("Home", "/a", "/b", text=TEXT))
    for name in "ab":
        made.visit(f"{SITE}/{name}", made.page(name, text=f"{TEXT} {name}"))
    made.visit(f"{SITE}/a", made.page("a", text=f"{TEXT.replace('many', 'few')} a"))
    made.visit(f"{SITE}/b", b"", 404)
    made.save()
    yield made
    made.partition.close()


def asked(made: HandMade, *flags: str, verb: str = "changes") -> list[str]:
    return [verb, "--dir", str(made.directory), "--since", "2023-11-01", *flags]


def test_changes_are_listed_with_words_and_a_summary(directory, capsys):
    assert main(asked(directory, "--diff")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("vanished" in line and f"{SITE}/b" in line for line in lines)
    assert any("[-many-] {+few+}" in line for line in lines)
    assert lines[-1] == "pages: 1 changed, 1 vanished"


def test_it_loads_nothing_that_the_question_does_not_need(directory):
    """What fetches, reads or values pages takes longer to load than the question takes to answer."""
    needless = (
        "asyncio email.utils numba numpy.ma playwright pyarrow pycurl rapidfuzz resiliparse rich scipy ssl tantivy "
        "evercrawl.cli.verbs.starting.crawl evercrawl.crawl evercrawl.model.focus evercrawl.model.view "
        "evercrawl.parse.html evercrawl.schedule.policies.price.price evercrawl.search evercrawl.serve"
    )
    script = (
        f"import sys\nfrom evercrawl.cli.main import main\nassert main({asked(directory)}) == 0\n"
        f"print(*set({needless.split()}) & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    *told, loaded = done.stdout.splitlines()
    assert told[-1] == "pages: 1 changed, 1 vanished"
    assert not loaded


def test_json_says_the_same_and_where_to_go_on(directory, capsys):
    assert main(asked(directory, "--json", "--diff")) == 0
    *rows, end = map(json.loads, capsys.readouterr().out.splitlines())
    assert {(row["event"], row["kind"], row["url"]) for row in rows} == {
        ("change", "changed", f"{SITE}/a"), ("change", "vanished", f"{SITE}/b"),
    }  # fmt: skip
    (changed,) = (row for row in rows if row["kind"] == "changed")
    assert changed["at"].startswith("2023-11-14T22:14")
    assert {"op": "came", "words": "few"} in changed["diff"]["pieces"]
    assert end == {"event": "end", "sequence": 6, "pages": {"changed": 1, "vanished": 1}, "noise": 0, "unjudged": 0}
    assert main(asked(directory, "--json", "--after", str(end["sequence"]))) == 0
    assert json.loads(capsys.readouterr().out)["pages"] == {}


def test_versions_and_the_content_at_a_time(directory, capsys):
    at = ["get", f"{SITE}/a", "--dir", str(directory.directory)]
    assert main([*at, "--versions", "--json"]) == 0
    new, old = map(json.loads, capsys.readouterr().out.splitlines())
    assert (new["event"], new["number"], old["number"], old["extent"]) == ("version", 2, 1, None)
    assert main([*at, "--versions"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert main([*at, "--at", old["seen_at"], "--text"]) == 0
    said = capsys.readouterr()
    assert "many words" in said.out
    assert "first seen" in said.err
    assert main([*at, "--at", "2023-01-01"]) == 1
    assert "it was first read at" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["changes", "--since", "soon"], "--since must be a time such as 2h"),
        (["changes", "--pattern", "("], "not a regular expression"),
        (["changes", "--webhook", "http://a.example/"], "add --follow"),
        (["changes", "--after", "-1"], "--after must be"),
        (["get", f"{SITE}/a", "--versions", "--at", "2h"], "not allowed with"),
        (["get", f"{SITE}/a", "--at", "2h", "--fresh", "90%"], "leave out --at"),
        (["get", f"{SITE}/a", "--versions", "--raw"], "--at"),
        (["changes", "--follow", "--webhook", "ftp://a.example/"], "http or https"),
        (
            ["changes", "--follow", "--webhook", "http://127.0.0.1:9/", "--webhook-secret", "env:NO_SUCH_ONE"],
            "NO_SUCH_ONE",
        ),
        (["changes", "--atom", "/no/such/folder/feed.xml"], "make its folder first"),
    ],
)
def test_what_is_wrong_gets_a_sentence(directory, capsys, flags, sentence):
    try:
        code = main([*flags, "--dir", str(directory.directory)])
    except SystemExit as left:
        code = int(left.code or 0)
    assert code == 2 if "folder" not in sentence else code
    assert sentence in capsys.readouterr().err


def test_a_feed_is_written(directory, capsys, tmp_path):
    file = tmp_path / "feed.xml"
    assert main(asked(directory, "--atom", str(file))) == 0
    assert capsys.readouterr().out == f"wrote 2 changes to {file}\n"
    found = feedparser.parse(file.read_bytes())
    assert [entry.title for entry in found.entries] == ["b (vanished)", "a (changed)"]
    assert "<ins>few</ins>" in found.entries[1].content[0].value


def test_a_follower_tells_what_comes_also_after_a_kill(directory, tmp_path):
    command = [sys.executable, "-m", "evercrawl", "changes", "--follow", "--json", "--dir", str(directory.directory)]
    feed = tmp_path / "feed.xml"

    def followed(after: int) -> subprocess.Popen[str]:
        flags = ["--after", str(after), "--atom", str(feed)]
        return subprocess.Popen([*command, *flags], stdout=subprocess.PIPE, text=True)

    def line(process: subprocess.Popen[str]) -> dict[str, object]:
        assert process.stdout is not None
        return json.loads(process.stdout.readline())

    first = followed(4)
    assert [line(first)["kind"] for _ in range(2)] == ["changed", "vanished"]
    directory.visit(f"{SITE}/", directory.page("Home", "/a", "/b", "/new", text=TEXT))
    directory.save()
    told = line(first)
    assert (told["kind"], told["url"]) == ("changed", f"{SITE}/")
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    first.stdout.close()
    directory.visit(f"{SITE}/new", directory.page("New"))
    directory.save()
    again = followed(int(str(told["sequence"])))
    assert line(again)["kind"] == "appeared"
    directory.visit(f"{SITE}/b", directory.page("b", text=f"{TEXT} b"))
    directory.save()
    assert line(again)["kind"] == "returned"
    os.kill(again.pid, signal.SIGTERM)
    assert again.wait(20) == 0
    again.stdout.close()
    titles = [entry.title for entry in feedparser.parse(feed.read_bytes()).entries]
    assert titles[:2] == ["b (returned)", "New (appeared)"]


def test_a_title_stays_in_the_line_of_its_page():
    """A directory of a stranger, or another machine, may hold a title of several lines."""
    title = "Tea\n2026-01-01T00:00:00Z  changed  https://bank.example/\r\x0b\u2028more"
    line = change_line(PageChange(1, f"{SITE}/", title, "changed", 0.0, None, 0.5, 1, 0.1, 200, False, 1, None, 0))
    assert len(line.splitlines()) == 1
    assert line.index(f"{SITE}/") < line.index("Tea")
