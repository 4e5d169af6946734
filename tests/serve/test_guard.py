"""Who may ask for what."""

import asyncio
import os
import shutil
from typing import Any

import pytest
from starlette.testclient import TestClient

from evercrawl.errors import ConfigError
from evercrawl.serve.app import app
from evercrawl.serve.guard import BODY_BYTES, PLACE_FILE, TOKEN_FILE, token_of

TOKEN = "t" * 40


def test_other_names_are_not_answered_to(client):
    for name in ("evil.example", "127.0.0.1.evil.example", ""):
        assert client.get("/", headers={"host": name}).status_code == 421
    for name in ("localhost:8400", "[::1]:8400", "127.0.0.1"):
        assert client.get("/health/live", headers={"host": name}).status_code == 200


def test_pages_load_nothing_from_elsewhere_and_are_shown_in_no_frame(client):
    headers = client.get("/").headers
    assert headers["content-security-policy"].startswith("default-src 'self'; ")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


def test_from_another_machine_the_token_is_needed_for_all_that_tells_of_the_crawl(far):
    for path in ("/api/v1/status", "/api/v1/events", "/metrics"):
        assert far.get(path).status_code == 401
        assert far.get(path, headers={"authorization": "Bearer wrong"}).status_code == 401
    assert far.get("/api/v1/status", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    page = far.get("/?q=tea")
    assert page.status_code == 200
    assert "needs the link with the token" in page.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": f"Bearer {TOKEN}", "origin": "https://evil.example"}, 403),
        ({"authorization": f"Bearer {TOKEN}", "origin": "null"}, 403),
        ({"authorization": f"Bearer {TOKEN}", "sec-fetch-site": "cross-site"}, 403),
        ({"authorization": f"Bearer {TOKEN}", "content-length": str(BODY_BYTES + 1)}, 413),
        ({"authorization": f"Bearer {TOKEN}", "content-length": "-1"}, 413),
    ],
)
def test_changes_need_the_token_and_no_other_site_makes_them(client, headers, status):
    assert client.post("/api/v1/orders", headers=headers).status_code == status


@pytest.fixture
def few_at_once(monkeypatch):
    """Have few requests take a client's share, however slow this machine is."""
    monkeypatch.setattr("evercrawl.serve.guard.BURST", 5.0)
    monkeypatch.setattr("evercrawl.serve.guard.PER_S", 1e-3)


@pytest.mark.usefixtures("few_at_once")
def test_who_asks_too_quickly_waits(client):
    answers = [client.get("/health/live").status_code for _ in range(6)]
    assert answers[0] == 200
    assert 429 in answers


@pytest.mark.usefixtures("few_at_once")
def test_who_asks_too_quickly_behind_a_proxy_keeps_nobody_else_waiting(client):
    flood = {"x-forwarded-for": "198.51.100.1, 192.0.2.7"}
    assert 429 in {client.get("/health/live", headers=flood).status_code for _ in range(6)}
    others = ({"x-forwarded-for": "192.0.2.7, 198.51.100.1"}, {"via": "1.1 proxy"}, {})
    assert [client.get("/health/live", headers=other).status_code for other in others] == [200] * 3
    unnamed = {client.get("/health/live", headers={"via": "1.1 proxy"}).status_code for _ in range(6)}
    assert 429 in unnamed
    assert client.get("/health/live").status_code == 200, "this machine itself is another client"


@pytest.mark.usefixtures("few_at_once")
def test_who_asks_too_quickly_from_many_addresses_of_a_network_is_one_client(crawl):
    """Whoever has one machine with IPv6 has any number of addresses."""
    served = app(crawl.directory, TOKEN, frozenset({"crawl.example"}), "search")

    def asked(address: str) -> int:
        with_client = TestClient(served, base_url="http://crawl.example", client=(address, 5000))
        return with_client.get("/health/live").status_code

    assert 429 in {asked(f"2001:db8:1:2::{i:x}") for i in range(1, 7)}
    assert asked("2001:db8:2::1") == asked("192.0.2.1") == 200


def test_the_token_is_the_owners_alone_and_lasts(tmp_path):
    token = token_of(tmp_path)
    assert len(token) >= 32
    assert token_of(tmp_path) == token
    file = tmp_path / TOKEN_FILE
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o644)
    with pytest.raises(ConfigError, match="can be read by others"):
        token_of(tmp_path)
    file.unlink()
    file.symlink_to("/etc/hostname")
    with pytest.raises(ConfigError, match="can be read by others"):
        token_of(tmp_path)


def test_a_token_that_came_with_the_directory_is_not_taken(tmp_path):
    """However it came: as files alone, with all times and modes, or with a file that says that it was made there."""
    made = tmp_path / "made"
    made.mkdir()
    token = token_of(made)
    for how, copy in {"cp": shutil.copy, "tar": shutil.copy2}.items():
        came = tmp_path / how
        came.mkdir()
        for name in (TOKEN_FILE, PLACE_FILE):
            copy(made / name, came / name)
            os.utime(came / name, ns=((made / name).stat().st_atime_ns, (made / name).stat().st_mtime_ns))
        assert token_of(came) != token
        assert token_of(came) == token_of(came)
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy2(made / TOKEN_FILE, alone)
    assert token_of(alone) not in (token, "")
    (alone / PLACE_FILE).unlink()
    (alone / PLACE_FILE).symlink_to(made / PLACE_FILE)
    assert token_of(alone) == token_of(alone)
    assert token_of(made) == token


def test_a_token_outlives_that_its_directory_is_renamed(tmp_path):
    (tmp_path / "a").mkdir()
    token = token_of(tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")
    (tmp_path / "b" / "journal").write_text("more")
    assert token_of(tmp_path / "b") == token


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("path", ["status", "changes?pattern=(a%2B)%2B%24", "plan", "content?url=https://a.example/"])
def test_no_page_of_another_site_has_a_visitor_s_browser_ask(client, site, path):
    assert client.get(f"/api/v1/{path}", headers={"sec-fetch-site": site}).status_code == 403
    for own in ("same-origin", "none"):
        assert client.get("/api/v1/status", headers={"sec-fetch-site": own}).status_code == 200
    assert client.get("/?q=tea", headers={"sec-fetch-site": site}).status_code == 200  # a link may lead to the search


@pytest.mark.parametrize("field", ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"])
def test_who_is_behind_a_proxy_of_this_machine_is_not_on_this_machine(client, field):
    for path in ("/api/v1/status", "/metrics"):
        assert client.get(path, headers={field: "127.0.0.1"}).status_code == 401
        assert client.get(path, headers={field: "", "authorization": f"Bearer {TOKEN}"}).status_code == 200


@pytest.mark.parametrize(("version", "status"), [("1.0", 401), ("1.1", 200), ("2", 200)])
def test_who_asks_as_proxies_do_that_add_no_field_is_not_on_this_machine(client, version, status):
    """`proxy_pass` alone has nginx ask by HTTP/1.0, from this machine, and say nothing of whom it asks for."""
    scope = {
        "type": "http", "http_version": version, "method": "GET", "path": "/metrics", "raw_path": b"/metrics",
        "query_string": b"", "headers": [(b"host", b"127.0.0.1")], "client": ("127.0.0.1", 9), "scheme": "http",
        "server": ("127.0.0.1", 80),
    }  # fmt: skip
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(client.app(scope, receive, send))
    assert sent[0]["status"] == status


@pytest.mark.parametrize("length", ["²", "٣", "1e3", "+1", " 1", "1_0", "0x1"])
def test_a_length_is_digits(client, length):
    headers = {"authorization": f"Bearer {TOKEN}", "content-length": length}
    given = [(name.encode(), value.encode("utf-8")) for name, value in headers.items()]
    assert client.post("/api/v1/orders", headers=given).status_code == 413


@pytest.mark.parametrize("dest", ["script", "style", "worker", "serviceworker", "sharedworker", "object", "embed"])
def test_a_stored_copy_is_no_part_of_a_page(client, dest):
    asked = {"url": "https://a.example/"}
    assert client.get("/api/v1/content", params=asked, headers={"sec-fetch-dest": dest}).status_code == 403
    assert client.get("/api/v1/content", params=asked, headers={"sec-fetch-dest": "document"}).status_code == 200


@pytest.mark.parametrize(
    "said",
    [
        "text/html\rSet-Cookie: a=b", "text/html\x00", "text/html; a=\x0bb", "text/html\x85", "text/html\xff", "html",
        "text/html\x1b[2J", "text",
    ],
)  # fmt: skip
def test_no_field_follows_behind_the_type_of_a_stored_copy(crawl, said):
    crawl.visit("https://a.example/", b"<title>T</title>words", content_type=said)
    crawl.save()
    served = app(crawl.directory, TOKEN)
    with TestClient(served, base_url="http://127.0.0.1:8400", client=("127.0.0.1", 5000)) as asking:
        found = asking.get("/api/v1/content", params={"url": "https://a.example/"})
    assert (found.status_code, found.headers["content-type"]) == (200, "application/octet-stream")
    assert found.content == b"<title>T</title>words"
