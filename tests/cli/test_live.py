"""What is shown while a crawl runs."""

import asyncio
import errno
import io
import json
import os
from dataclasses import asdict
from typing import Any

import pytest
from rich.console import Console

from evercrawl.cli.show import live
from evercrawl.cli.show.lines import JsonLines, Lines, Watcher, closing
from evercrawl.cli.show.live import watcher
from evercrawl.cli.show.screen import Screen, picture
from evercrawl.progress import Progress, Summary

SUMMARY = Summary(visits=5, fetched=4, known=9, elapsed_s=12.0, reason="idle")


def at(seconds: float, **more: Any) -> Progress:
    return Progress(at=1000.0 + seconds, elapsed_s=seconds, **more)


class Failing(Watcher):
    """A watch whose output fails."""

    def __init__(self, number: int, *name: str) -> None:
        self.error, self.asked = OSError(number, os.strerror(number), *name), 0

    def __call__(self, progress: Progress) -> None:
        self.asked += 1
        raise self.error


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_come_every_ten_seconds_and_at_the_end():
    out = io.StringIO()
    with Lines(out) as watch:
        for half_seconds in range(50):
            watch(at(half_seconds / 2, visits=half_seconds))
        watch.finish(SUMMARY)
    lines = out.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == ["0:00:00", "0:00:10", "0:00:20", "0:00:24", "ended"]
    assert lines[-1] == "ended (idle) after 0:00:12: 5 visits; 4 pages stored, 9 URLs known"


def test_the_last_words_agree_with_their_counts():
    assert closing(Summary(1, 1, 1, 2.0, "idle")).endswith("0:00:02: 1 visit; 1 page stored, 1 URL known")


def test_what_is_shown_cannot_make_a_terminal_do_things():
    """As an error may quote what a server sent; only the display's own escapes are left."""
    for form in (Lines, Screen):
        out = Terminal()
        with form(out) as watch:
            watch(at(0, message="a\x1b]0;name\x07\x9b2Jb"))
            watch(at(1, message="c\x1b]0;name\x07\x9b2Jd"))
            watch.finish(SUMMARY)
        assert "a]0;name2Jb" in out.getvalue()
        assert "c]0;name2Jd" in out.getvalue()


def test_a_line_tells_errors_and_what_waits():
    out = io.StringIO()
    Lines(out)(
        at(
            0,
            visits=9,
            outcomes={"ok": 6, "error": 3},
            errors={"dns": 1, "timeout": 2},
            waiting={"resting": 3},
            disk_full=True,
            names_trouble="the name server answers for no name",
        )
    )
    assert "visits 9 (ok 6, error 3)  known 0" in out.getvalue()
    assert (
        "errors: timeout 2, dns 1  hosts waiting: resting 3  DISK FULL  the name server answers for no name"
        in out.getvalue()
    )


def test_a_message_is_written_at_once_and_once():
    out = io.StringIO()
    watch = Lines(out)
    for message in ["", "the tail was torn", "the tail was torn", "", "no room"]:
        watch(at(1, message=message))
    assert out.getvalue().splitlines()[1:] == ["the tail was torn", "no room"]


def test_json_lines_hold_everything():
    out = io.StringIO()
    watch = JsonLines(out)
    progress = at(0, outcomes={"ok": 3}, message="hello")
    watch(progress)
    watch(at(0.5))
    watch(at(1.5))
    watch.finish(SUMMARY)
    events = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [event.pop("event") for event in events] == ["message", "progress", "progress", "end"]
    shown = {**asdict(progress), "at": "1970-01-01T00:16:40.000Z", "at_s": 1000.0}
    assert shown.pop("partitions") == ()  # told only of a crawl in partitions
    assert events[1] == shown
    assert events[-1] == asdict(SUMMARY)


@pytest.mark.parametrize("number", [errno.EPIPE, errno.EIO, errno.EBADF])
def test_an_output_that_is_closed_ends_a_run_unless_there_is_a_log(number, monkeypatch):
    monkeypatch.setattr(live, "hush", lambda: None)
    for logged in (False, True):
        shown = Failing(number)
        outlet, stop = live.Outlet(shown, logged=logged), asyncio.Event()
        with outlet:
            tell = live.heard(outlet, stop, outlet)
            tell(at(0))
            tell(at(1))
            outlet.finish(SUMMARY)
        assert [outlet.closed, outlet.over, stop.is_set(), shown.asked] == [True, not logged, not logged, 1]
        assert outlet.ended_run == (not logged)


def test_an_output_that_closes_after_a_run_was_stopped_makes_it_no_failure(monkeypatch):
    monkeypatch.setattr(live, "hush", lambda: None)
    outlet, stop = live.Outlet(Failing(errno.EPIPE)), asyncio.Event()
    stop.set()
    live.heard(outlet, stop, outlet)(at(0))
    assert [outlet.over, outlet.ended_run] == [True, False]


def test_an_output_on_a_full_disk_loses_lines_where_there_is_a_log():
    shown = Failing(errno.ENOSPC)
    outlet = live.Outlet(shown, logged=True)
    outlet(at(0))
    outlet(at(1))
    assert [outlet.closed, shown.asked] == [False, 2]
    with pytest.raises(OSError, match="No space left"):
        live.Outlet(shown)(at(2))


def test_what_fails_though_the_output_is_open_is_not_hidden():
    shown = Failing(errno.ENOENT, "/a/file")
    with pytest.raises(FileNotFoundError):
        live.Outlet(shown, logged=True)(at(0))


def test_a_run_cut_short_still_ends_with_a_word():
    out, as_json = io.StringIO(), io.StringIO()
    Lines(out).finish(None)
    JsonLines(as_json).finish(None)
    assert "nothing acknowledged is lost" in out.getvalue()
    assert json.loads(as_json.getvalue())["event"] == "end"


def test_the_form_suits_the_reader():
    assert type(watcher(as_json=True, quiet=False, out=Terminal())) is JsonLines
    assert type(watcher(as_json=False, quiet=True, out=Terminal())) is Watcher
    assert type(watcher(as_json=False, quiet=False, out=io.StringIO())) is Lines
    assert type(watcher(as_json=False, quiet=False, out=Terminal())) is Screen


def test_the_picture_tells_all_that_the_line_tells():
    console = Console(width=120, record=True, file=io.StringIO())
    progress = at(
        65, known=1234, fetched=56, queue=789, rate_per_s=7.5, visits=60, outcomes={"ok": 55, "redirect": 5},
        errors={"dns": 2}, waiting={"back-off": 4}, disk_full=True, bytes_in=5_000_000,
        names_trouble="no name server answers",
    )  # fmt: skip
    console.print(picture(progress, [1.0, 2.0]))
    text = console.export_text()
    for words in ("no name server answers",
                  "0:01:05", "7.5 visits/s", "5.0 MB in", "known 1,234", "fetched 56", "queue 789",
                  "60: ok 55, redirect 5", "dns 2", "back-off 4", "The disk is full", "▄█"):  # fmt: skip
        assert words in text


def test_the_screen_gives_the_cursor_back():
    out = Terminal()
    with Screen(out) as watch:
        watch(at(0, message="[not markup]"))
        watch(at(1, known=3))
        watch.finish(SUMMARY)
    assert out.getvalue().rindex("\x1b[?25h") > out.getvalue().rindex("\x1b[?25l")
    assert "[not markup]" in out.getvalue()
    assert "ended (idle)" in out.getvalue()
