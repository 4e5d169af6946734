"""Content, structure and presentation apart, and pages that drift from the topic of their folder."""

import json
import math

import pytest

from evercrawl.cli.main import main
from evercrawl.lab.histories.evolution.aspects import PageAspects, aspect_changes
from evercrawl.lab.histories.evolution.bodies import aspects_of_crawl
from evercrawl.parse.reading.aspects import aspects

SITE = "http://example.org"
PAGE = """<html><head><style>p { color: red }</style><link rel=stylesheet href=/look.css></head>
<body><div class=main><p>Tea is <b>green</b></p><a href=/cups>cups</a></div><script>track(1)</script></body></html>"""


@pytest.mark.parametrize(
    ("old", "new", "content", "structure", "presentation"),
    [
        ("green", "black", True, False, False),
        ("red", "blue", False, False, True),
        ("/look.css", "/other.css", False, False, True),
        ("<b>green</b>", "<i>green</i>", False, False, True),
        ("class=main", "class=wide", False, False, True),
        ("/cups", "/mugs", False, True, False),
        ("<p>Tea is <b>green</b></p>", "<div><p>Tea is <b>green</b></p></div>", False, True, False),
        ("<p>Tea is <b>green</b></p>", "<p>Tea</p><p>is <b>green</b></p>", False, True, False),
        ("track(1)", "track(2)", False, False, False),
        ("</head>", "<meta name=made content=today></head>", False, False, False),
    ],
)
def test_what_changes_is_one_aspect(old, new, content, structure, presentation):
    assert old in PAGE
    before, after = (aspects(page.encode())[0] for page in (PAGE, PAGE.replace(old, new)))
    assert [a != b for a, b in zip(before, after, strict=True)] == [content, structure, presentation]


def test_a_deep_page_is_read_to_its_end():
    one, words = aspects(b"<div>" * 5000 + b"deep" + b"</div>" * 5000)
    assert words == "deep"
    assert one != aspects(b"<div>" * 4000 + b"deep")[0]


def html(old: str, new: str) -> bytes:
    return PAGE.replace(old, new).encode()


@pytest.fixture(name="crawl")
def crawl_of_a_folder(made):
    """Return a crawl of four pages on tea in a folder: one changes its look, one its topic, one nothing."""
    made.seed(*(f"{SITE}/tea/{name}" for name in ("look", "topic", "still", "cups")))
    for turn in range(3):
        made.visit(f"{SITE}/tea/look", html("red", f"rgb({turn})"))
        made.visit(
            f"{SITE}/tea/topic", html("Tea is <b>green</b>", "Shoes on sale" if turn == 2 else "Tea is <b>green</b>")
        )
        made.visit(f"{SITE}/tea/still", html("cups</a>", "mugs</a>"))
        made.visit(f"{SITE}/tea/cups", html("/cups", f"/cups{turn}"))
    made.save()
    return made


def test_versions_are_those_of_which_the_bytes_are_others(crawl):
    urls = [f"{SITE}/tea/{name}" for name in ("look", "topic", "still", "cups")]
    found = dict(aspects_of_crawl(crawl.directory, urls, -math.inf, math.inf))
    assert {place: len(page.versions) for place, page in found.items()} == {0: 3, 1: 2, 3: 3}
    assert "green" in found[1].first
    assert "green" not in found[1].last
    assert not dict(aspects_of_crawl(crawl.directory, urls, -math.inf, 0.0))


def test_evolution_tells_them_apart(crawl, capsys):
    crawl.partition.close()
    argv = ["evolution", "--dir", str(crawl.directory)]
    assert main([*argv, "--texts", "--json"]) == 0
    (whole,) = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (whole["aspect_pages"], whole["aspect_changes"]) == (3, 5)
    shares = [whole[f"{name}_changed"] for name in ("content", "structure", "presentation")]
    assert shares == [0.2, 0.4, pytest.approx(0.4 + 0.2)]
    assert whole["presentation_alone"] == 0.4
    assert whole["topic_last"] < whole["topic_first"]
    assert whole["drifted"] == pytest.approx(1 / 3)
    assert main([*argv, "--texts"]) == 0
    assert "which aspect changes" in capsys.readouterr().out
    assert main([*argv, "--json"]) == 0
    (plain,) = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert plain["aspect_pages"] == 0
    assert plain["drifted"] is None


def test_of_nothing_nothing_is_known():
    none = aspect_changes({}, {})
    assert (none.aspect_pages, none.aspect_changes) == (0, 0)
    assert all(math.isnan(number) for number in none[2:])
    page = aspects(PAGE.encode())[0]
    alone = aspect_changes({0: PageAspects([page, page], frozenset({"tea"}), frozenset({"tea"}))}, {0: 0})
    assert (alone.aspect_pages, alone.aspect_changes) == (1, 0)
    assert math.isnan(alone.topic_first)
