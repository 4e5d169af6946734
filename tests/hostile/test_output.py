"""What a page calls itself, on a terminal: it must not move the cursor, name the window or turn the line around."""

import io
import signal
import sys

import pytest

from evercrawl.cli.main import main

HIDDEN = "\U000e0041\u3164\ufe01\u200d\u115f\ufeff"
EVIL = f"{HIDDEN}A\x1b]0;PWNED\x07\x1b[2J\x9b31m\u202egro.elpmaxe\u2066\u2028\x00\x08\r B"
HARM = (*HIDDEN, "\x1b]", "\x1b[2J", "\x07", "\x9b", "\u202e", "\u2066", "\u2028", "\x00", "\x08")


class Terminal(io.TextIOWrapper):
    def __init__(self) -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, "utf-8", newline="", write_through=True)

    def isatty(self) -> bool:
        return True

    @property
    def sent(self) -> str:
        self.flush()
        return self.bytes.getvalue().decode()


@pytest.fixture
def crawled(hostile):
    body = f'<title>{EVIL}</title><html lang="{EVIL}"><p>{EVIL} words</p><a href="/b">{EVIL}</a>'.encode()
    far = hostile.Far({
        "/": hostile.reply(body, "Content-Type: text/html; charset=utf-8", 'ETag: "\x1b]0;E\x07"'),
        "/b": hostile.moved("x-\x1b]0;PWNED\x07:b"),
    })  # fmt: skip
    hostile.crawl(far)
    return hostile.directory, far.url()


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["words", "json"])
@pytest.mark.parametrize("verb", ["status", "top", "why", "get", "verify", "search"])
def test_no_verb_lets_a_page_speak_to_the_terminal(crawled, monkeypatch, verb, form):
    directory, url = crawled
    out, err = Terminal(), Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    before = signal.getsignal(signal.SIGINT)
    arguments = {"why": [url], "get": [url], "search": ["words"]}.get(verb, [])
    code = main([verb, *arguments, *([] if verb == "get" and not form else form), "--dir", str(directory)])
    signal.signal(signal.SIGINT, before)
    said = out.sent + err.sent
    assert code == 0, said
    assert said
    assert [harm for harm in HARM if harm in said] == []
