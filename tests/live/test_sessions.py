"""Sites that know who asks: what they are sent, what is kept of it, and that no secret is seen anywhere."""

import asyncio
import gzip
import stat
from typing import Any

import pytest
from members import PASSWORD, USER, MemberSite

from evercrawl.config import SiteRules, load
from evercrawl.errors import ConfigError
from evercrawl.progress import Limits
from evercrawl.store.orders import CrawlOrder, append, named

SECRETS = ("hunter2", "s3cret", "t0ken", "k3y", "bWU6aHVudGVyMg")
FORM = {"login_fields": (f"user={USER}", "password=env:MEMBER_PASSWORD"), "secrets_over_http": True}


@pytest.fixture(autouse=True)
def _environment(monkeypatch) -> None:
    monkeypatch.setenv("MEMBER_PASSWORD", PASSWORD)
    monkeypatch.setenv("MEMBER_TOKEN", "t0ken")
    monkeypatch.setenv("MEMBER_KEY", "k3y")


def crawled(
    live, path: str, *, pages: int = 3, runs: int = 1, action: str = "/login", between=lambda site: None, **rules: Any
) -> MemberSite:
    """Crawl from a page of a member site of its own, as its section says; return it."""

    async def go() -> MemberSite:
        async with MemberSite() as site:
            site.action = action
            if rules.get("login"):
                rules["login"] = site.url(rules["login"])
            sites = (SiteRules("127.0.0.1", **rules),) if rules else ()
            for run in range(runs):
                seeds = [site.url(path)] if not run else []
                await live.crawl(seeds, Limits(pages=pages, until_idle=not run, seconds=8), sites=sites,
                                 refresh_after_s=0.01, sitemaps=False, probe_share=0.0)  # fmt: skip
                between(site)
            return site

    return asyncio.run(go())


def errors(live) -> list[str]:
    return [visit.error for visit in live.visits() if visit.error]


def said(live) -> str:
    return "\n".join(progress.message for progress in live.said if progress.message)


def everything(live) -> bytes:
    """Return all that a crawl wrote, unpacked where it is packed, but for its cookies."""
    files = [path for path in live.directory.rglob("*") if path.is_file() and path.name != "cookies.json"]
    return (
        b"".join(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes() for path in files)
        + repr(live.said).encode()
    )


def test_a_form_is_filled_in_with_its_token_and_pages_behind_it_are_read(live):
    site = crawled(live, "/members/a", pages=4, login="/login", **FORM)
    assert len(site.posts) == 1
    assert site.posts[0].startswith("csrf=t1&go=1&user=me&password=hunter2")
    assert set(live.outcomes().values()) == {"ok"}
    assert "127.0.0.1: logged in" in said(live)
    assert b"Authorization" not in b"".join(site.requests)
    live.verified()


def test_no_secret_is_in_a_log_the_journal_the_archive_or_the_status(live):
    crawled(live, "/members/a", login="/login", **FORM)
    written = everything(live)
    assert b"Cookie: (left out)" in written
    assert [secret for secret in SECRETS if secret.encode() in written] == []
    assert "hunter2" not in (live.directory / "crawl.toml").read_text()
    assert load(live.directory / "crawl.toml").sites[0].login_fields[1] == "password=env:MEMBER_PASSWORD"


@pytest.mark.parametrize(
    ("path", "rules"),
    [
        ("/basic", {"user": USER, "password": "env:MEMBER_PASSWORD"}),
        ("/bearer", {"bearer": "env:MEMBER_TOKEN"}),
        ("/key", {"headers": ("X-Key: env:MEMBER_KEY", "X-Seen: plain")}),
    ],
)
def test_passwords_tokens_and_fields_are_sent_and_not_kept(live, path, rules):
    site = crawled(live, path, secrets_over_http=True, **rules)
    assert live.outcomes() == {site.url(path): "ok"}
    written = everything(live)
    assert [secret for secret in SECRETS if secret.encode() in written] == []
    assert (b"X-Seen: plain" in written) == ("headers" in rules)
    assert b"(left out)" in written


def test_secrets_are_not_sent_unencrypted_unless_that_is_wanted(live):
    site = crawled(live, "/bearer", bearer="env:MEMBER_TOKEN", headers=("X-Seen: plain",))
    assert b"t0ken" not in b"".join(site.requests)
    assert b"X-Seen: plain" in site.requests[-1]
    assert errors(live) == ["status: 401"]


@pytest.mark.parametrize("way", ["redirect", "status", "page"])
def test_a_login_that_expired_is_done_again_and_that_is_said(live, way):
    def expire(site: MemberSite) -> None:
        site.sessions.clear()
        site.expired_as = way

    shown = {"logged_out": "Please log in"} if way == "page" else {}
    site = crawled(live, "/members/a", runs=2, between=expire, login="/login", **FORM, **shown)
    assert len(site.posts) == 2
    assert "the login has expired; logging in again" in said(live)
    assert set(live.outcomes().values()) == {"ok"}
    assert errors(live) == []


def test_cookies_outlive_the_run_in_a_file_of_their_owner(live):
    site = crawled(live, "/members/a", runs=2, login="/login", **FORM)
    assert len(site.posts) == 1
    file = live.directory / "cookies.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "s3cret" in file.read_text()


def test_a_password_that_is_wrong_costs_one_try_and_the_pages_wait(live, monkeypatch):
    monkeypatch.setenv("MEMBER_PASSWORD", "wrong")
    site = crawled(live, "/members/a", pages=1, login="/login", **FORM)
    assert len(site.posts) == 1
    assert b"/members" not in b"".join(site.requests)
    assert len(set(errors(live))) == 1
    assert errors(live)[0].startswith("login: logging in failed at ")
    assert "the form came back" in said(live)
    assert "wrong" not in said(live).replace("seem to be wrong", "")


def test_a_form_without_the_fields_is_said(live):
    crawled(live, "/members/a", pages=1, login="/login", login_fields=("mail=me",), secrets_over_http=True)
    assert "has no form with the fields mail" in said(live)


def test_a_form_that_leads_to_another_site_gets_nothing(live):
    site = crawled(live, "/members/a", pages=1, action="http://127.0.9.9:1/in", login="/login", **FORM)
    assert site.posts == []
    assert "its form is sent to another site, or unencrypted" in said(live)


def test_a_cookie_wall_is_passed_where_cookies_are_kept_and_named_where_not(live):
    site = crawled(live, "/wall", cookies=True, secrets_over_http=True)
    assert live.outcomes() == {site.url("/wall"): "ok"}


@pytest.mark.parametrize("path", ["/wall", "/round", "/hard"])
def test_a_cookie_wall_is_recognised(live, path):
    crawled(live, path, pages=4)
    assert any(error.startswith("cookie_wall: it sets a cookie and redirects") for error in errors(live))


def test_a_wall_that_no_cookie_opens_is_recognised(live):
    site = crawled(live, "/hard", pages=1, cookies=True, secrets_over_http=True)
    assert set(errors(live)) == {"cookie_wall: it redirects to itself whatever cookies it is sent"}
    assert sum(b"GET /hard" in head for head in site.requests) == 2 * len(errors(live))


def test_a_secret_that_is_missing_is_said_at_the_start(live, tmp_path):
    for reference, why in (("env:NOBODY", "has no NOBODY"), (f"file:{tmp_path}/none", "cannot be read")):
        with pytest.raises(ConfigError, match=why):
            crawled(live, "/bearer", bearer=reference)
    open_file = tmp_path / "token"
    open_file.write_text("t0ken")
    open_file.chmod(0o644)
    with pytest.raises(ConfigError, match="others can read: run chmod 600"):
        crawled(live, "/bearer", bearer=f"file:{open_file}")


def test_damaged_cookies_are_said_and_the_site_is_logged_in_to_again(live):
    def damage(_: MemberSite) -> None:
        (live.directory / "cookies.json").write_bytes(b"{")

    site = crawled(live, "/members/a", runs=2, between=damage, login="/login", **FORM)
    assert len(site.posts) == 2
    assert "cookies.json cannot be read" in said(live)


def while_crawling(live, path: str, *steps: tuple[Any, Any], **rules: Any) -> MemberSite:
    """Crawl, do the first of each step once the second of the one before is so; return the site at the end."""

    async def go() -> MemberSite:
        async with MemberSite() as site:
            sites = (SiteRules("127.0.0.1", **rules),) if rules else ()
            crawling = asyncio.ensure_future(
                live.crawl([site.url(path)], Limits(seconds=20), sites=sites, refresh_after_s=0.05, sitemaps=False,
                           policy="uniform", probe_share=0.0)
            )  # fmt: skip
            await seen(crawling, lambda: site.requests)
            for act, done in steps:
                before = len(site.requests)
                act(site)
                await seen(crawling, lambda done=done, before=before: done(site, site.requests[before:]))
            crawling.cancel()
            await asyncio.gather(crawling, return_exceptions=True)
            return site

    return asyncio.run(go())


async def seen(crawling: asyncio.Future[Any], so) -> None:
    """Wait until something is so, while a crawl runs."""
    while not so():
        await asyncio.wait([crawling], timeout=0.02)
        assert not crawling.done()


def sections(live, text: str):
    """Return what writes other sections into crawl.toml."""

    def act(_: MemberSite) -> None:
        file = live.directory / "crawl.toml"
        file.write_text(f"{file.read_text().partition('[site.')[0]}\n{text}")

    return act


def ordered(live, name: str, *values: str, lift: bool = False):
    """Return what gives an order to set a key of a section."""
    order = CrawlOrder("set", name=name, values=values, lift=lift)
    return lambda _: append(live.directory, [named(order, 1.0, "ann")])


def sent(field: bytes, *, times: int = 1):
    return lambda _, requests: sum(field in head for head in requests) >= times


def test_headers_hold_in_a_running_crawl_by_the_file_and_by_an_order(live):
    rules = '[site."127.0.0.1"]\nheaders = ["X-Seen: one", "X-Key: env:MEMBER_KEY"]\nsecrets_over_http = true\n'
    while_crawling(
        live,
        "/key",
        (sections(live, rules), sent(b"X-Seen: one\r\nX-Key: k3y")),
        (ordered(live, 'site."127.0.0.1".headers', "X-Seen: two"), sent(b"X-Seen: two\r\n\r\n")),
        (ordered(live, 'site."127.0.0.1".headers', lift=True), lambda _, new: new and b"X-Seen" not in new[-1]),
    )
    assert "the sections of sites and targets in crawl.toml apply from now on" in said(live)
    assert load(live.directory / "crawl.toml").sites[0].headers == ()
    assert b"k3y" not in everything(live)


def test_a_secret_that_is_missing_leaves_a_running_crawl_as_it_was(live):
    rules = '[site."127.0.0.1"]\nheaders = ["X-Seen: two"]\n'
    while_crawling(
        live,
        "/",
        (sections(live, rules.replace("two", "one")), sent(b"X-Seen: one")),
        (sections(live, '[site."127.0.0.1"]\nbearer = "env:NOBODY"\n'), lambda *_: "stay as they were" in said(live)),
        (lambda _: None, sent(b"X-Seen: one", times=2)),
        (ordered(live, "site.127.0.0.1.bearer", "env:NOBODY"), sent(b"X-Seen: one", times=3)),
        (sections(live, rules), sent(b"X-Seen: two")),
    )
    assert "which is empty" not in said(live)
    assert "has no NOBODY" in said(live)


def test_a_login_that_is_set_while_the_crawl_runs_is_used_and_so_is_another_one(live, monkeypatch):
    monkeypatch.setenv("OTHER_PASSWORD", "wrong")
    section = (
        '[site."127.0.0.1"]\nlogin = "{}"\nlogin_fields = ["user=me", "password=env:{}"]\nsecrets_over_http = true\n'
    )
    member = lambda name: lambda site: sections(live, section.format(site.url("/login"), name))(site)  # noqa: E731
    site = while_crawling(
        live,
        "/members/a",
        (member("OTHER_PASSWORD"), lambda site, _: len(site.posts) == 1 and "logging in failed" in said(live)),
        (member("MEMBER_PASSWORD"), lambda site, new: len(site.posts) == 2 and any(b"sid=" in head for head in new)),
        (sections(live, ""), lambda _, new: len(new) > 2 and b"sid=" not in new[-1]),
    )
    assert ["hunter2" in post for post in site.posts] == [False, True]
    assert b"hunter2" not in everything(live)
