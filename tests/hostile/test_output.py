"""What a page calls itself, on a terminal: it must not move the cursor, name the window or turn the line around."""

import contextlib
import io
import signal
import sys
from itertools import product

import pytest

from evercrawl.ask.parts_line import VerbAnswer
from evercrawl.cli.main import main
from evercrawl.cluster.birth import ClusterBirth, write_birth
from evercrawl.parse.sites import site_rules

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


SPOKEN = {
    "changes": ["changes", "--diff", "--all"], "copies": ["copies", "{url}"], "get": ["get", "{url}"],
    "markdown": ["get", "--markdown", "{url}"], "versions": ["get", "--versions", "{url}"],
    "html": ["get", "--html", "{url}"], "orders": ["orders"], "pages": ["export", "pages", "-o", "-"],
    "content": ["export", "content", "-o", "-"], "links": ["export", "links", "-o", "-"],
    "visits": ["export", "visits", "-o", "-"], "plan": ["plan"], "search": ["search", "words"],
    "select": ["select", "--budget", "1"], "status": ["status"], "calibration": ["status", "--calibration"],
    "suspects": ["suspects"], "top": ["top"], "sites": ["top", "--sites"], "rising": ["top", "--rising"],
    "hub": ["top", "--by", "hub"], "usage": ["usage"], "verify": ["verify"], "why": ["why", "{url}"],
    "why-not": ["why", "{url}b"], "reindex": ["reindex"],
}  # fmt: skip
"""What is asked of a crawl of such pages, by every verb that tells of pages."""


@contextlib.contextmanager
def terminals():
    """Give what stands for standard output and error, for as long as verbs run."""
    before = signal.getsignal(signal.SIGINT)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("stdout", "stderr"):
            patch.setattr(sys, name, Terminal())
        yield sys.stdout, sys.stderr
    signal.signal(signal.SIGINT, before)


def test_no_verb_lets_a_page_speak_to_the_terminal(crawled):
    directory, url = crawled
    silent, harmful = list[str](), dict[str, list[str]]()
    for verb, form in product(SPOKEN, ([], ["--json"])):
        with terminals() as (out, err):
            code = main([*(word.format(url=url) for word in SPOKEN[verb]), *form, "--dir", str(directory)])
        said = out.sent + err.sent
        assert code in (0, 1), said
        silent += [] if said else [verb]
        if harm := [harm for harm in HARM if harm in said]:
            harmful[verb] = harm
    assert harmful == {}
    assert set(silent) <= {"rising"}


@pytest.mark.parametrize("verb", [["get", "http://a.test/"], ["why", "http://a.test/"], ["set", "delay_s", "1"]])
def test_nor_one_that_another_machine_answers(verb, tmp_path, monkeypatch):
    write_birth(tmp_path, ClusterBirth(1, "c", 2, "00" * 16, site_rules(), 0, ["a", "b"]))
    (tmp_path / "crawl.toml").write_text("")
    answer = VerbAnswer(0, EVIL.encode(), EVIL)
    monkeypatch.setattr("evercrawl.cluster.questions.verb_afar", lambda *_: answer)
    with terminals() as (out, err):
        assert main([*verb, "--dir", str(tmp_path)]) == 0
    assert out.sent.count("PWNED") == err.sent.count("PWNED") == (2 if verb[0] == "set" else 1)
    assert [harm for harm in HARM if harm in out.sent + err.sent] == []
