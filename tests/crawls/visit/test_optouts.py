"""What pages and sites ask of those who train models is recorded with the content, and told."""

import pytest

from evercrawl.fetch.optouts import of_headers, signals_of
from evercrawl.fetch.robots import parse
from evercrawl.parse.html import read
from evercrawl.types import OptOut


@pytest.mark.parametrize(
    ("head", "labels"),
    [
        ('<meta name="robots" content="noai, NoImageAI">', ("noai", "noimageai")),
        ("<META content='1' NAME=tdm-reservation>", ("tdm",)),
        ('<meta name="TDM-Reservation" content=1>', ("tdm",)),
        ('<meta name="tdm-reservation" content="0"><meta name="tdm-policy" content="1">', ()),
        ('<meta name="description" content="about tdm-reservation 1">', ()),
        ('<meta name="otherbot" content="noai">', ()),
    ],
)
def test_meta_elements(head, labels):
    assert OptOut(read(f"<html><head>{head}</head><p>words".encode(), "http://a.example/").optouts).labels == labels


@pytest.mark.parametrize(
    ("headers", "labels"),
    [
        ({"tdm-reservation": " 1 "}, ("tdm",)),
        ({"tdm-reservation": "0"}, ()),
        ({"content-signal": "search=no, ai-train=no"}, ("train", "search")),
        ({"content-usage": "train-ai=n"}, ("train",)),
        ({"content-signal": "ai-train=yes;ai-input=NO"}, ("input",)),
    ],
)
def test_header_fields(headers, labels):
    assert OptOut(of_headers(headers)).labels == labels


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("User-agent: *\nContent-Signal: ai-train=no\nDisallow: /x", ("train",)),
        ("User-agent: otherbot\nContent-Signal: ai-train=no", ()),
        ("User-agent: evercrawl\nAllow: /\n\nUser-agent: *\nContent-Signal: ai-train=no", ()),
        (
            "User-agent: *\nContent-Signal: search=yes\nAllow: /\n\nUser-agent: GPTBot\nUser-agent: CCBot\nDisallow: /",
            ("agents",),
        ),
        ("User-agent: GPTBot\nDisallow: /private/", ()),
        ("User-agent: googlebot\nDisallow: /", ()),
        ("Content-Signal: ai-train=no", ()),
    ],
)
def test_robots_txt(text, labels):
    assert OptOut(parse(text.encode()).optouts("evercrawl")).labels == labels


def test_rubbish_says_nothing():
    assert signals_of("=no,,;=;ai-train,ai-train=no=no" + "x" * 10_000) == 0
