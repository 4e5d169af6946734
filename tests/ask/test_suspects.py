"""What looks like spam in crawls made by hand."""

import asyncio
import random

import pytest

from evercrawl.ask.suspects.suspects import suspects
from evercrawl.config import Config, load
from evercrawl.crawl.session import crawl
from evercrawl.model.stored.reader import opened
from evercrawl.model.web.farms import farms, owners
from evercrawl.progress import Limits

HONEST = [f"http://honest{i}.example" for i in range(30)]
FARM = [f"http://farm{i}.example" for i in range(9)]


def web(made, *, back: bool = True) -> None:
    """Thirty sites in a ring of two steps, one of which links to the first of nine that link to it, and it to them."""
    for site in HONEST + FARM:
        made.scope.add_root(site.removeprefix("http://"))
    made.seed(*(f"{site}/" for site in HONEST))
    for i, site in enumerate(HONEST):
        others = [f"{HONEST[(i + step) % 30]}/" for step in (1, 2)]
        links = [*others, f"{FARM[0]}/", *(f"{one}/" for one in FARM if not back)] if i == 3 else others
        made.visit(f"{site}/", made.page(site, *links, text=f"this is {site}"))
    made.seed(*(f"{one}/" for one in FARM))
    for one in FARM:
        links = FARM[1:] if one == FARM[0] else FARM[:1]
        made.visit(f"{one}/", made.page(one, *(f"{link}/" for link in links), text=f"this is {one}"))


def test_a_farm_is_named_with_the_evidence(made, asked):
    web(made)
    view = asked()
    (farm,) = suspects(view)
    assert (farm.kind, farm.sites[0], set(farm.sites)) == (
        "farm", "farm0.example", {one.removeprefix("http://") for one in FARM},
    )  # fmt: skip
    assert farm.score == farm.evidence["gain"] > 5
    assert farm.evidence["mutual"] == 1.0
    assert "of what links bring to these 9 sites comes from themselves" in farm.reason
    assert "no other site links to 89% of them" in farm.reason


def test_a_farm_without_a_source_is_one_still(made, asked):
    web(made)
    view = asked()
    view.state.accounts.sites["trusted"][30:39] = 0
    assert [one.kind for one in farms(view)] == ["farm"]


def test_where_farms_are_capped_their_sites_have_no_source_from_the_next_start_on(made):
    web(made)
    made.stop()
    for said in ("cap", "report"):
        config = Config(suspects=said, scope="any", index=False, workers=0)
        asyncio.run(crawl(made.directory, config, (), Limits(seconds=0.01)))
        partition = opened(made.directory)
        distrusted = partition.scheme.distrusted
        partition.close()
        assert load(made.directory / "crawl.toml").suspects == said
        assert distrusted == (tuple(sorted(one.removeprefix("http://") for one in FARM)) if said == "cap" else ())


def test_whom_another_site_vouches_for_one_by_one_is_none(made, asked):
    web(made, back=False)
    assert suspects(asked()) == []


def test_a_crawl_that_knows_nothing_suspects_nobody(made, asked):
    made.save()
    assert suspects(asked()) == []


def words(of: str, count: int = 250) -> str:
    draw = random.Random(of)
    return " ".join("".join(draw.choices("aeioubcdfghjklmnprstvw", k=6)) for _ in range(count))


def site_of(made, site: str, pages: int, text, links=lambda number: ()) -> None:
    """Make pages of a site: what each says and links to."""
    made.scope.add_root(site.removeprefix("http://"))
    made.seed(*(f"{site}/{number}" for number in range(pages)))
    for number in range(pages):
        url = f"{site}/{number}"
        made.visit(url, made.page(f"{number}", *(f"{site}/{link}" for link in links(number)), text=text(number)))


def test_a_mirror_is_named_with_what_it_mirrors(made, asked):
    for site in ("http://a.example", "http://b.example"):
        site_of(made, site, 20, lambda number: words(f"{number}"))
    (mirror,) = suspects(asked())
    assert (mirror.kind, mirror.sites) == ("mirror", ("b.example", "a.example"))
    assert mirror.evidence == {"same": 20, "common": 20, "read": 20, "at_least": pytest.approx(0.8389, abs=1e-4)}


def test_a_host_with_as_much_of_its_own_is_no_mirror(made, asked):
    site_of(made, "http://a.example", 20, lambda number: words(f"{number}"))
    site_of(made, "http://b.example", 45, lambda number: words(f"{number}"))
    assert suspects(asked()) == []


def test_a_translation_is_no_mirror(made, asked):
    for site in ("http://a.example", "http://b.example"):
        site_of(made, site, 20, lambda number, site=site: words(f"{number}" if number < 10 else f"{site} {number}"))
    assert suspects(asked()) == []


def test_pages_of_one_phrase_are_named(made, asked):
    site_of(made, "http://a.example", 12, lambda number: words(f"{number}", 10) + " buy cheap ant farms now" * 60)
    (one,) = suspects(asked())
    assert (one.kind, one.sites, len(one.examples)) == ("stuffing", ("a.example",), 3)
    assert one.evidence["repeated"] > 0.9
    assert "occurred before on the page" in one.reason


def test_pages_put_together_from_a_stock_of_phrases_are_named(made, asked):
    def text(number: int) -> str:
        draw = random.Random(number)
        return " ".join(words(f"phrase {draw.randrange(30)}", 60) for _ in range(10))

    site_of(made, "http://a.example", 24, text)
    (one,) = suspects(asked())
    assert (one.kind, list(one.evidence)) == ("stuffing", ["stitched", "pages"])
    assert one.score > 0.8


def test_a_template_is_no_stuffing(made, asked):
    site_of(made, "http://a.example", 24, lambda number: words("menu", 600) + words(f"{number}", 200))
    assert suspects(asked()) == []


def test_pages_with_the_same_degrees_are_named(made, asked):
    draw = random.Random(1)
    site_of(made, "http://a.example", 100, words, lambda _: draw.sample(range(100), draw.randrange(1, 30)))
    site_of(
        made, "http://b.example", 220, lambda of: words(f"b{of}"), lambda of: [(of + i) % 220 for i in range(1, 13)]
    )
    (one,) = suspects(asked())
    assert (one.kind, one.sites) == ("degrees", ("b.example",))
    assert (one.evidence["out"], one.evidence["into"], one.evidence["pages"]) == (12, 12, 220)


def test_a_menu_makes_no_suspicion(made, asked):
    """Each page links to each: the same degrees, and honest."""
    site_of(made, "http://a.example", 210, words, lambda _: range(210))
    assert suspects(asked()) == []


def test_addresses_are_owners_of_their_own():
    assert len(set(owners(["127.0.1.1", "127.0.1.2", "[::1]", "a.example"]).tolist())) == 4
