"""Pages that only other sites name, and that turn out later to be copies of pages of the same host."""

import pytest
from msgspec.structs import replace

from evercrawl.config import Config
from evercrawl.model.rules.named_by_others import DAY_S, DOUBT, FIRST, PER_GOOD, NamedByOthers
from evercrawl.model.rules.variants import MOST, MOST_CHARS, MOST_EACH, Variants, look_alike, shorter
from evercrawl.store.journal.events import Visit

SITE, EVIL = "http://example.org", "http://evil.test/"
PLAIN = tuple(f"{SITE}/{n}" for n in range(DOUBT))


class Crawl:
    """A site and another one that names its pages."""

    def __init__(self, made) -> None:
        made.config = Config(scope="any")
        self.made, self.others = made, made.limited(scope="any").others
        made.seed(f"{SITE}/", EVIL)
        made.visit(f"{SITE}/", made.page("Home", f"{SITE}/more"))

    def others_name(self, *urls: str) -> None:
        self.made.visit(EVIL, self.made.page(f"evil {self.made.now}", *urls))

    def own_names(self, *urls: str) -> None:
        self.made.visit(f"{SITE}/more", self.made.page(f"More {self.made.now}", *urls))

    def read(self, url: str, text: str = "", status: int = 200) -> None:
        """Read a page whose text is that of its first letter, or another one."""
        number = url.removeprefix(SITE)[1:2]
        self.made.visit(url, self.made.page(text or f"page {number}", f"{SITE}/"), status)

    def read_variants(self, suffix: str = "?from=mail", pages: tuple[str, ...] = PLAIN) -> None:
        """Read copies of pages under URLs that only the other site names."""
        self.others_name(*(url + suffix for url in pages))
        for url in pages:
            self.read(url + suffix)

    def doubted(self) -> bool:
        return self.others.doubted(self.made.state.hosts.find("example.org"))


@pytest.fixture
def crawl(made):
    return Crawl(made)


@pytest.mark.parametrize("when", ["before", "after", "claimed", "listed"])
def test_a_host_that_names_the_pages_without_the_query_is_doubted_before_these_are_read(crawl, when):
    if when == "before":
        crawl.own_names(*PLAIN)
    if when in ("claimed", "listed"):
        crawl.others_name(*PLAIN)
    crawl.read_variants()
    assert crawl.doubted() == (when == "before")
    if when == "listed":
        crawl.made.learner.admit_listing([*PLAIN], [None] * len(PLAIN), crawl.made.now)
    elif when != "before":
        crawl.own_names(*PLAIN)
    assert crawl.doubted()
    for url in PLAIN:
        crawl.read(url)
    assert crawl.doubted()


def test_a_new_listing_counts_as_its_own_naming(crawl):
    crawl.read_variants()
    crawl.made.learner.admit_listing([*PLAIN], [None] * len(PLAIN), crawl.made.now)
    assert crawl.doubted()


@pytest.mark.parametrize("late", [True, False])
def test_a_host_that_names_none_of_them_without_the_query_is_not_doubted(crawl, late):
    if not late:
        crawl.others_name(*PLAIN)
    crawl.read_variants()
    if late:
        crawl.others_name(*PLAIN)
    assert not crawl.doubted()


@pytest.mark.parametrize("status", [200, 404, 500, "refused"])
def test_doubt_ends_when_the_page_without_the_query_differs(crawl, status):
    """A list whose entries other sites name, or a program that says nothing without its parameter."""
    crawl.own_names(f"{SITE}/list")
    variants = [f"{SITE}/list?id={n}" for n in range(DOUBT)]
    crawl.others_name(*variants)
    for n, url in enumerate(variants):
        crawl.read(url, f"entry {n}")
    assert crawl.doubted()
    if status == "refused":
        crawl.made.refuse(f"{SITE}/list", "robots")
    else:
        crawl.read(f"{SITE}/list", "all entries", status)
    assert not crawl.doubted()
    for n in range(DOUBT - 1):  # all of them count again, so that fewer bad ones do not outnumber them
        crawl.others_name(f"{SITE}/gone{n}")
        crawl.read(f"{SITE}/gone{n}", "nothing", 404)
    crawl.others_name(f"{SITE}/gone-too")
    crawl.read(f"{SITE}/gone-too", "nothing", 404)
    assert not crawl.doubted()


def test_a_page_that_did_not_answer_says_nothing(crawl):
    crawl.own_names(*PLAIN)
    crawl.read_variants()
    for url in PLAIN:
        crawl.made.visit(url, status=0, error="timeout")
    assert crawl.doubted()


@pytest.mark.parametrize("first", ["variant", "plain"])
def test_short_pages_that_differ_in_a_token_are_copies(crawl, first):
    def read(urls: list[str]) -> None:
        for n, url in enumerate(urls):
            title = f"<title>{n}</title><a href='/'>home</a><a href='/more'>more</a>"
            crawl.made.visit(url, f"{title}{'<p>words' * 9} {hash(url) % 10**9:09}".encode())

    variants = [f"{url}?from=mail" for url in PLAIN]
    crawl.own_names(*PLAIN)
    crawl.others_name(*variants)
    for urls in (variants, [*PLAIN]) if first == "variant" else ([*PLAIN], variants):
        read(urls)
    assert crawl.doubted()


@pytest.mark.parametrize("suffix", ["/", "/index.html", ";x=1"])
def test_a_copy_under_any_other_url_ceases_to_count_once_the_page_is_read(crawl, suffix):
    crawl.own_names(*PLAIN)
    crawl.read_variants(suffix)
    assert not crawl.doubted()
    for url in PLAIN:
        crawl.read(url)
    assert crawl.doubted()


@pytest.mark.parametrize("links", [(), (f"{SITE}/more",)])
def test_of_two_that_only_others_name_the_one_without_the_query_is_a_page(crawl, made, links):
    variants = [f"{url}?from=mail" for url in PLAIN]
    crawl.others_name(*PLAIN, *variants)
    for urls in (variants, PLAIN):
        for n, url in enumerate(urls):
            made.visit(url, made.page(f"page {n}", *links))
    assert not crawl.doubted()


@pytest.mark.parametrize("known", [False, True])
def test_a_canonical_url_leads_to_something_if_it_was_unknown(crawl, known):
    if known:
        crawl.own_names(*PLAIN)
    crawl.others_name(*(f"{url}?from=mail" for url in PLAIN))
    for url in PLAIN:
        body = crawl.made.page(url, f"{SITE}/").replace(b"<p>", f'<link rel="canonical" href="{url}"><p>'.encode(), 1)
        assert b"canonical" in body
        crawl.made.visit(f"{url}?from=mail", body)
        crawl.made.visit(url, body)
    assert crawl.doubted() == known


def test_a_restart_counts_no_copies(crawl, made):
    crawl.own_names(*PLAIN)
    crawl.read_variants()
    crawl.others_name(f"{SITE}/good", f"{SITE}/good?from=mail", f"{SITE}/mirrored")
    for page in ("good", "good?from=mail", "mirrored"):
        crawl.read(f"{SITE}/{page}", f"what is {page[:4]}, " * 99)
    made.visit(EVIL, made.page("evil mirror", "http://evil.test/mirrored"))
    made.visit("http://evil.test/mirrored", made.page("what is mirr, " * 99, f"{SITE}/"))
    for url in PLAIN:
        crawl.read(url)
    host = made.state.hosts.find("example.org")
    assert NamedByOthers(made.state, 10_000).room(host, 9, 300) == FIRST + 2 * PER_GOOD


@pytest.mark.parametrize("more", ["{}&from=mail", "from=mail&{}", "{}&a=1&b=2&c=3&d=4", "a=1&b=2&c=3&d=4&{}"])
@pytest.mark.parametrize("first", [True, False])
def test_further_parameters_are_as_good_as_any(crawl, more, first):
    """What is at the URL without any is another page, which is read first or last."""
    script = f"{SITE}/show"
    own = [f"{script}?id={n}" for n in range(DOUBT)]
    variants = [f"{script}?{more.format(f'id={n}')}" for n in range(DOUBT)]
    crawl.own_names(*own)
    crawl.others_name(*variants, script)
    if first:
        crawl.read(script, "nothing to show")
    for urls in (variants, own):
        for n, url in enumerate(urls):
            crawl.read(url, f"the text of {n}")
        assert crawl.doubted()
    if not first:
        crawl.read(script, "nothing to show")
    assert crawl.doubted()


def test_a_short_page_that_is_read_after_the_one_it_copies_stays_a_copy(crawl, made):
    """What is at the URL without any parameters is another page, which is read last."""
    own = [f"{SITE}/show?id={n}" for n in range(DOUBT)]
    variants = [f"{url}&from=mail" for url in own]
    crawl.own_names(*own)
    crawl.others_name(*variants, f"{SITE}/show")
    for turn, urls in enumerate((own, variants)):
        for n, url in enumerate(urls):
            title = f"<title>{n}</title><a href='/'>home</a><a href='/more'>more</a>"
            made.visit(url, f"{title}{'<p>words' * 9} {7**9 * (turn + 1) + n}".encode())
    assert crawl.doubted()
    crawl.read(f"{SITE}/show", "nothing to show")
    assert crawl.doubted()


def test_a_copy_that_only_others_name_takes_nothing_from_what_it_copies(crawl):
    crawl.others_name(*PLAIN, *(f"{url}/index.html" for url in PLAIN))
    for url in PLAIN:
        crawl.read(url)
        crawl.read(f"{url}/index.html")
    assert not crawl.doubted()


def test_nor_does_a_page_that_comes_to_be_a_copy_later(crawl):
    crawl.own_names(*PLAIN)
    for url in PLAIN:
        crawl.read(url, f"first text of {url}")
    crawl.read_variants("/index.html")
    for url in PLAIN:
        crawl.read(url)
    assert not crawl.doubted()


def test_each_day_half_of_the_copies_are_forgotten(crawl, made):
    crawl.own_names(*PLAIN)
    crawl.read_variants()
    assert crawl.doubted()
    made.now += DAY_S
    crawl.read(PLAIN[0])
    assert not crawl.doubted()


def test_shorter_urls():
    assert shorter("http://a.example/") == []
    assert shorter(f"http://a.example/?{'a' * MOST_CHARS}") == []
    a = "http://a.example/"
    assert {*shorter(f"{a}?1&2&3&4")} == {
        a, *(f"{a}?{q}" for q in ("1", "1&2", "1&2&3", "4", "3&4", "2&3&4", "1&3&4", "1&2&4"))
    }  # fmt: skip
    assert len(shorter(f"{a}?{'&'.join('abcdefghijk')}")) == 7


def test_what_is_remembered_is_bounded():
    variants = Variants()
    for slot in range(MOST_EACH + 5):
        variants.add(slot, 0, "http://a.example/?a")
    assert variants.known("http://a.example/", 99) == [*range(MOST_EACH)]
    assert variants.among([0])
    for slot in range(MOST):
        variants.add(100 + slot, 1, f"http://b.example/{slot}?a")
    assert not variants.among([0])
    assert variants.of(99) == variants.read(99) == []
    assert variants.known("http://b.example/7", 100) == variants.of(100) == [107]
    size = variants.nbytes
    assert variants.read(100) == [107]
    assert variants.known("http://b.example/7", 100) == []
    assert variants.nbytes < size


def test_a_page_is_forgotten_wherever_it_is_remembered():
    variants = Variants()
    urls = variants.add(5, 0, "http://a.example/?a&b")
    variants.add(6, 0, "http://a.example/?a&c")
    assert [variants.known(url, 90 + n) for n, url in enumerate(urls)] == [[5, 6], [5, 6], [5]]
    variants.drop(5)
    variants.drop(5)
    assert [variants.of(90 + n) for n in range(3)] == [[6], [6], []]
    assert variants.read(90) == [6]
    assert variants.read(91) == [6]


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        ({}, True), ({"title": "b"}, False), ({"size_bytes": 1040}, True), ({"size_bytes": 1100}, False),
        ({"targets": b""}, False),
    ],
)  # fmt: skip
def test_pages_look_alike_that_differ_in_little(crawl, made, other, alike):
    crawl.read(f"{SITE}/more")
    visit = [event for _, _, event in made.partition.journal.replay() if isinstance(event, Visit)][-1]
    visit = replace(visit, title="a", size_bytes=1000)
    assert look_alike(replace(visit, **other), visit) == alike
    assert not look_alike(replace(visit, targets=b""), replace(visit, targets=b""))
