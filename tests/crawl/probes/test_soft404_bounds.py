"""Soft 404s of strangers: what is read of a page, kept of a site and suspected at a time is bounded."""

import gzip
from types import SimpleNamespace
from typing import Any, cast

import pytest

from evercrawl.crawl.probes import probes, soft404_book
from evercrawl.crawl.probes.probes import LED, MOST_SUSPECTS, SUSPECT_S, Probes
from evercrawl.crawl.probes.soft404 import MOST_BYTES, MOST_WORDS, AbsentPathAnswer, page_answer
from evercrawl.crawl.probes.soft404_book import MOST_OF_SITE, Soft404Book
from evercrawl.model.stored.reading import Before
from evercrawl.types import Exchange, Outcome, Request

NOW = 1.7e9


def full(number: int) -> AbsentPathAnswer:
    """Return the longest answer there is."""
    return page_answer(f"http://a{number}.test/none", b" ".join(b"%d" % word for word in range(6000)), "text/html")


def reading(url: str, body: bytes) -> Any:
    """Return the reading of a gzipped page, as far as soft 404s are concerned."""
    wire = gzip.compress(body)
    exchange = Exchange(
        Request(url), NOW, status=200, wire=wire, headers={"content-encoding": "gzip", "content-type": "text/html"}
    )
    return SimpleNamespace(
        exchange=exchange, before=Before(depth=2), redirect="", content=object(), failed=False, whole=True,
        mime="text/html", size_bytes=len(body),
    )  # fmt: skip


def test_an_answer_has_four_bytes_a_word_whatever_their_length():
    body = b" ".join(b"%d" % word + b"x" * 80 for word in range(6000))
    assert len(page_answer("http://a.test/none", body, "text/html").words) <= 4 * MOST_WORDS
    assert len(full(1).words) == 4 * MOST_WORDS


def test_only_the_beginning_of_a_page_is_unpacked_and_parsed(monkeypatch):
    seen = list[int]()
    parsed = soft404_book.page_answer

    def watched(url: str, body: bytes, *more: Any) -> AbsentPathAnswer:
        seen.append(len(body))
        return parsed(url, body, *more)

    monkeypatch.setattr(soft404_book, "page_answer", watched)
    book = Soft404Book(":memory:")
    start = b"<p>nothing here " * (MOST_BYTES // 16)
    body = start + b"<p>own words of the rest" * 400_000
    known = page_answer("http://a.test/none", body, "text/html")
    assert not known.digest  # or pages that differ in the rest would count as the same
    book.keep("http://a.test/", NOW, (known, known))
    assert book.why_no_page(reading("http://a.test/page", body), NOW)
    assert seen == [MOST_BYTES]
    other = b"<p>a page of goats " * (MOST_BYTES // 19 + 1) + body[MOST_BYTES:]
    assert not book.why_no_page(reading("http://a.test/other", other), NOW)
    book.close()


def test_the_hosts_of_one_site_share_a_part_of_the_room(tmp_path):
    book = Soft404Book(str(tmp_path / "soft404.sqlite"))
    book.keep("http://www.good.test/", NOW, (full(0), full(0)))
    for number in range(200):
        book.keep(f"http://a{number}.evil.test/", NOW + number, (full(number),) * 2)
    assert book.size_bytes <= MOST_OF_SITE + (100 << 10)
    assert not book.wanted("http://www.good.test/page", NOW + 200)
    assert [book.wanted(f"http://a{number}.evil.test/page", NOW + 200) for number in (0, 199)] == [True, False]
    size = book.size_bytes
    book.close()
    again = Soft404Book(str(tmp_path / "soft404.sqlite"))
    assert again.size_bytes == size
    again.close()


def test_all_sites_together_have_a_limit_and_what_expires_is_dropped(tmp_path, monkeypatch):
    monkeypatch.setattr(soft404_book, "MOST_HELD_BYTES", 1 << 20)
    book = Soft404Book(str(tmp_path / "soft404.sqlite"))
    for number in range(100):
        book.keep(f"http://site{number}.test/", NOW + number, (full(number),) * 2)
    assert book.size_bytes <= 1 << 20
    assert [book.wanted(f"http://site{number}.test/", NOW + 100) for number in (0, 99)] == [True, False]
    book.keep("http://last.test/", NOW + 101 + soft404_book.KEPT_S, ())
    assert book.size_bytes < 1000
    book.close()
    again = Soft404Book(str(tmp_path / "soft404.sqlite"))
    assert again.size_bytes < 1000
    again.close()


def test_a_row_that_is_too_long_or_of_an_earlier_version_is_removed(tmp_path):
    import sqlite3

    import msgspec

    path = tmp_path / "soft404.sqlite"
    Soft404Book(str(path)).close()
    earlier = msgspec.msgpack.encode(({"words": ["no", "page"], "digest": 1, "size_bytes": 9, "target": ""},))
    with sqlite3.connect(path) as table:
        for folder, answers in (("http://a.test/", earlier), ("http://b.test/", bytes(1 << 20))):
            table.execute("INSERT INTO soft404 VALUES (?, ?, ?)", (folder, NOW, answers))
    table.close()
    book = Soft404Book(str(path))
    assert book.size_bytes == 0
    book.close()
    with sqlite3.connect(path) as table:
        assert table.execute("SELECT COUNT(*) FROM soft404").fetchone() == (0,)
    table.close()


def redirected(url: str, now: float) -> Any:
    made = SimpleNamespace(exchange=SimpleNamespace(request=Request(url)), redirect=f"{url.rpartition('/')[0]}/login")
    return SimpleNamespace(reading=made, event=SimpleNamespace(outcome=Outcome.REDIRECT, visits=1, at=now, flags=0))


@pytest.fixture
def suspecting():
    book = Soft404Book(":memory:")
    away = SimpleNamespace(away=lambda now: True, name="", addresses=())
    frontier = SimpleNamespace(wait_s=lambda host, now: 1e6)
    scope = SimpleNamespace(excludes=lambda url: False, holds=lambda name: True)
    given: dict[str, Any] = {"quarantine": None, "deadline_s": 30.0, "max_bytes": 1 << 20, "scope": scope}
    none = cast("Any", None)
    yield Probes(none, book, cast("Any", frontier), none, none, lambda name: cast("Any", away), bytes, **given)
    book.close()


def suspect(found: Probes, host: str, now: float) -> None:
    for number in range(LED):
        found.learned(redirected(f"http://{host}/page{number}", now))


def test_hosts_that_cannot_be_asked_are_suspected_for_an_hour(suspecting, monkeypatch):
    monkeypatch.setattr(probes, "MOST_TARGETS", 10 * MOST_SUSPECTS)
    for number in range(MOST_SUSPECTS):
        suspect(suspecting, f"a{number}.site{number % 9}.test", NOW)
    assert suspecting.suspects == MOST_SUSPECTS
    suspect(suspecting, "one.more.test", NOW)
    assert suspecting.suspects == MOST_SUSPECTS
    assert suspecting.start(NOW, 10) == 0
    suspecting.start(NOW + SUSPECT_S, 10)
    assert (suspecting.suspects, suspecting.next_at()) == (0, float("inf"))
    suspect(suspecting, "one.more.test", NOW + SUSPECT_S)
    assert suspecting.suspects == 1


def test_one_site_takes_an_eighth_of_the_places(suspecting):
    for number in range(100):
        suspect(suspecting, f"a{number}.evil.test", NOW)
    assert suspecting.suspects == MOST_SUSPECTS // 8
    suspect(suspecting, "www.good.test", NOW)
    assert suspecting.suspects == MOST_SUSPECTS // 8 + 1
