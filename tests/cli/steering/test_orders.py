"""The verbs that steer: what they write down, and what they say."""

import json

import pytest

from evercrawl.cli.main import main
from evercrawl.config import Config, save
from evercrawl.store.orders import FILE, CrawlOrder, OrderFile, lines_from


def given(directory):
    return [line.order for line in lines_from(OrderFile(directory), 0)]


@pytest.fixture
def crawl(tmp_path):
    (tmp_path / "crawl.json").write_text('{"format": 1, "id": "01234567", "made_at": 1.7e9}')
    save(Config(exclude=("/old/",)), tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "order"),
    [
        (["add", "https://a.example/x", "https://a.example/y"],
         CrawlOrder("seed", urls=("https://a.example/x", "https://a.example/y"))),
        (["check", "https://a.example/x"], CrawlOrder("check", urls=("https://a.example/x",))),
        (["pause"], CrawlOrder("pause")),
        (["resume"], CrawlOrder("resume")),
        (["exclude", "/x/"], CrawlOrder("exclude", pattern="/x/")),
        (["exclude", "/old/", "--lift"], CrawlOrder("exclude", pattern="/old/", lift=True)),
        (["exclude", "--host", "A.example"], CrawlOrder("exclude", pattern=r"^https?://a\.example(?::[0-9]+)?/")),
        (["include", "https://a.example/docs/"], CrawlOrder("include", pattern=r"^https://a\.example/docs/")),
        (["boost", "/x/", "4", "--for", "2h"], CrawlOrder("boost", pattern="/x/", factor=4.0, lasts_s=7200.0)),
        (["boost", "--host", "a.example", "3"],
         CrawlOrder("boost", pattern=r"^https?://a\.example(?::[0-9]+)?/", factor=3.0)),
        (["boost", "/x/", "--lift"], CrawlOrder("boost", pattern="/x/", factor=2.0, lift=True)),
        (["set", "delay_s", "5s"], CrawlOrder("set", name="delay_s", values=("5s",))),
        (["set", "exclude"], CrawlOrder("set", name="exclude")),
        (["set", "site.example.org.headers", "X-A: b", "X-C: d"],
         CrawlOrder("set", name="site.example.org.headers", values=("X-A: b", "X-C: d"))),
        (["set", 'target."/news/".fresh', "95%"], CrawlOrder("set", name='target."/news/".fresh', values=("95%",))),
    ],
)  # fmt: skip
def test_an_order_is_on_the_disk_and_the_next_start_obeys_it(crawl, capsys, words, order):
    assert main([*words, "--dir", str(crawl), "--json"]) == 0
    (found,) = given(crawl)
    about = ("do", "urls", "pattern", "lift", "factor", "lasts_s", "name", "values")
    assert [getattr(found, name) for name in about] == [getattr(order, name) for name in about]
    said = json.loads(capsys.readouterr().out)
    assert (said["event"], said["id"], said["state"]) == ("order", found.id, "waits")
    assert said["result"] == "the next start carries it out"
    assert found.by
    assert (crawl / FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["set", "delay", "5s"], "did you mean delay_s?"),
        (["set", "rate", "5"], "did you mean rate_per_s?"),
        (["set", "delay_s", "soon"], "delay_s must be a duration"),
        (["set", "delay_s"], "delay_s takes one value"),
        (["set", 'site."example.org".delay', "5s"], "delay is not a key of a site section; choose among delay_s"),
        (["set", 'site."example.org"', "5s"], 'site."example.org" names no key'),
        (["set", "site.example.org.delay_s", "soon"], "delay_s must be a duration"),
        (["set", "site.example.org.user", "me"], "user and password go together"),
        (["set", "site.example.org.delay_s", "--unset"], 'site."example.org".delay_s is not set'),
        (["set", "site.example.org.delay_s", "5s", "--unset"], "--unset takes no value"),
        (["set", "delay_s", "--unset"], "only a key of a section can be unset"),
        (["exclude", "("], "PATTERN must be"),
        (["exclude"], "name a PATTERN"),
        (["exclude", "/x/", "--lift"], "has no '/x/' to lift; it has '/old/'"),
        (["boost", "/x/", "many"], "FACTOR must be"),
        (["boost", "/x/", "--for", "0"], "--for must be"),
        (["add", "nonsense"], "nonsense"),
    ],
)
def test_what_makes_no_sense_is_refused_before_it_is_an_order(crawl, capsys, words, why):
    assert main([*words, "--dir", str(crawl)]) == 2
    assert why in capsys.readouterr().err
    assert not (crawl / FILE).exists()


def test_where_there_is_no_crawl_there_are_no_orders(tmp_path, capsys):
    assert main(["pause", "--dir", str(tmp_path)]) == 2
    assert "there is no crawl in" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
