# ruff: noqa: ANN003, ANN202  (the servers of a test are nested functions, and say more without annotations)
"""Exchanges through SOCKS5 proxies: who looks names up, what the guard sees, and proxies that fail."""

import asyncio

import pytest
from answers import HI
from socks_server import SocksServer

from evercrawl.config.proxies import proxies_of
from evercrawl.errors import ConfigError
from evercrawl.fetch.proxies import AWAY_S, Proxies, looks_up

URL = "http://page.test/"


def through(fetcher, urls, *, addresses=(), judge=lambda _: "", url=URL, times=1, told=None, **socks):
    """Return the exchanges that were made through proxies; `urls` says which, given a proxy that works."""

    async def run():
        async with fetcher.Site({"/": HI}) as site, SocksServer(site.port, **socks) as socks_server:
            proxies = Proxies(urls(socks_server), told or (lambda _: None))
            network = fetcher.network(judge, proxies=proxies)
            made = [await fetcher.one(network, url, addresses) for _ in range(times)]
            await network.close()
            return made, socks_server.asked, proxies

    return asyncio.run(run())


def test_socks5h_has_the_proxy_look_names_up(fetcher):
    (made,), asked, _ = through(fetcher, lambda one: [one.url("socks5h")], addresses=("page.test",))
    assert (made.body, asked) == (b"hi", [("page.test", 80)])
    assert made.sent.startswith(b"GET / HTTP/1.1\r\nHost: page.test\r\n")


@pytest.mark.parametrize("address", ["192.0.2.7", "2001:db8::7"])
def test_socks5_gets_the_address_that_was_looked_up_and_judged(fetcher, address):
    judged = []
    (made,), asked, _ = through(
        fetcher, lambda one: [one.url("socks5")], addresses=(address,), judge=lambda one: judged.append(one) or ""
    )
    assert (made.body, asked, judged) == (b"hi", [(address, 80)], [address])


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
def test_no_proxy_is_asked_for_an_address_that_the_guard_refuses(fetcher, scheme):
    (made,), asked, _ = through(
        fetcher, lambda one: [one.url(scheme)], url="http://10.0.0.1/", judge=lambda one: f"{one} is inside"
    )
    assert (made.error, made.detail, asked) == ("refused_address", "10.0.0.1 is inside", [])


def test_a_name_that_leads_inside_is_refused_where_the_crawl_looks_it_up(fetcher):
    (made,), asked, _ = through(
        fetcher, lambda one: [one.url("socks5")], addresses=("10.0.0.1",), judge=lambda one: f"{one} is inside"
    )
    assert (made.error, asked) == ("refused_address", [])


def test_a_proxy_that_does_not_answer_is_left_alone_and_another_takes_its_place(fetcher):
    told = []
    made, asked, proxies = through(
        fetcher, lambda one: ["socks5h://127.0.0.1:9", one.url()], times=3, addresses=("page.test",), told=told.append
    )
    assert [each.body for each in made] == [b"hi"] * 3
    assert len(asked) == 1  # the connection is kept
    dead, well = proxies.health
    assert (dead.failed <= 1, dead.answered, well.failed, well.answered) == (True, 0, 0, 3)
    assert dead.failed == 0 or (dead.why == "it cannot be connected to" and told)


@pytest.mark.parametrize(
    ("socks", "user", "why"),
    [({"user": ("me", "secret")}, "", "it does not follow"), ({"user": ("me", "secret")}, "me:wrong@", "it does not")],
)
def test_a_proxy_that_does_not_let_us_in_is_to_blame(fetcher, socks, user, why):
    (made,), _, proxies = through(fetcher, lambda one: [one.url("socks5h", user)], **socks)
    assert made.error == "connect"
    assert proxies.health[0].why.startswith(why)
    assert "secret" not in repr(proxies.health)


def test_a_user_name_and_password_open_a_proxy(fetcher):
    (made,), asked, proxies = through(
        fetcher, lambda one: [one.url("socks5h", "me:secret@")], user=("me", "secret"), addresses=("page.test",)
    )
    assert (made.body, asked) == (b"hi", [("page.test", 80)])
    assert "secret" not in repr(proxies.health)


ASK = b"HTTP/1.1 407 Authenticate\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"


def test_a_host_that_answers_407_behind_socks_is_not_the_proxys_fault(fetcher):
    async def run():
        async with fetcher.Site({"/": ASK}) as site, SocksServer(site.port) as one, SocksServer(site.port) as two:
            proxies = Proxies([one.url(), two.url()])
            network = fetcher.network(lambda _: "", proxies=proxies)
            made = await fetcher.one(network, URL, ("page.test",))
            await network.close()
            return made, one.asked + two.asked, proxies.health

    made, asked, health = asyncio.run(run())
    assert (made.status, len(asked)) == (407, 1)
    assert not any(one.failed for one in health)


def test_407_through_an_http_proxy_blames_it_until_it_has_worked_and_then_for_several_hosts_only(fetcher):
    """A site can send the status as well, and would have one visit made through every proxy, and all put away."""

    async def run():
        async with fetcher.Site({"http://page.test/": HI, "http://bad.test/": ASK, "http://worse.test/": ASK}) as site:
            proxies = Proxies([f"http://127.0.0.1:{site.port}"])
            network = fetcher.network(lambda _: "", proxies=proxies)
            found = []
            for name in ("bad", "page", "bad", "bad", "worse", "page", "worse"):
                made = await fetcher.one(network, f"http://{name}.test/", (f"{name}.test",))
                found.append((made.status, proxies.health[0].failed))
            await network.close()
            return found, proxies

    found, proxies = asyncio.run(run())
    assert found == [(407, 1), (200, 1), (407, 1), (407, 1), (407, 1), (200, 1), (407, 1)]
    (url,) = [f"http://{one.proxy.partition('//')[2]}" for one in proxies.health]
    assert [proxies.denied(url, f"{host}.test") for host in "aab"] == [False, False, True]


@pytest.mark.parametrize(
    "login", ["me:Pa/ssw0rd", "me:Pa#ssw0rd", "me:Pa?ssw0rd", "me:Pa@ssw0rd", "me:Pa%ssw0rd", "me:Pa%00d"]
)
@pytest.mark.parametrize("rest", ["127.0.0.1:9", "127.0.0.1:99999", "127.0.0.1:port", "[::1:9", "", "a host:9"])
def test_a_proxy_that_curl_cannot_read_is_refused_without_its_password(tmp_path, login, rest):
    secret = tmp_path / "secret"
    secret.write_text(f"http://{login}@{rest}")
    secret.chmod(0o600)
    with pytest.raises(ConfigError) as refused:
        proxies_of(f"file:{secret}")
    assert "ssw0rd" not in str(refused.value)
    secret.write_text("http://me:Pa%2Fssw0rd@127.0.0.1:9")
    assert proxies_of(f"file:{secret}") == ("http://me:Pa%2Fssw0rd@127.0.0.1:9",)


def test_what_curl_says_never_repeats_a_password(fetcher):
    """By the setting no such URL comes here; by a library's caller it may."""

    async def run():
        network = fetcher.network(lambda _: "", proxies=Proxies(["http://me:Pa/ssw0rd@127.0.0.1:9"]))
        made = await fetcher.one(network, URL, ("page.test",))
        await network.close()
        return made

    made = asyncio.run(run())
    assert made.error
    assert "ssw0rd" not in made.detail


@pytest.mark.parametrize("reply", [3, 4, 5, 6])
def test_a_host_that_a_proxy_does_not_reach_is_not_the_proxys_fault(fetcher, reply):
    (made,), _, proxies = through(fetcher, lambda one: [one.url()], reply=reply)
    assert made.error == "connect"
    assert (proxies.health[0].failed, proxies.health[0].why) == (0, "")


def test_failures_in_a_row_keep_a_proxy_away_for_longer_and_longer():
    one = "socks5h://127.0.0.1:1"
    proxies, now, waits = Proxies([one]), 0.0, []
    for _ in range(10):
        proxies.failed(one, now, "why")
        proxies.failed(one, now, "why")  # under way at the same time
        waits.append(proxies.health[0].away_until - now)
        now = proxies.health[0].away_until
    assert waits == [min(AWAY_S * 2**n, 3600.0) for n in range(10)]
    assert proxies.of("a.example", now - 1) == one  # there is no other
    proxies.answered(one)
    assert (proxies.health[0].away_until, proxies.health[0].why) == (0.0, "")


def test_hosts_share_proxies_and_most_keep_theirs_when_one_fails():
    urls = [f"socks5h://127.0.0.1:{port}" for port in (1, 2, 3)]
    proxies, hosts = Proxies(urls), [f"h{number}.example" for number in range(300)]
    before = {host: proxies.of(host, 0.0) for host in hosts}
    assert all(70 <= list(before.values()).count(url) <= 130 for url in urls)
    proxies.failed(urls[0], 0.0, "why")
    assert all(proxies.of(host, 1.0) == before[host] for host in hosts if before[host] != urls[0])


def test_proxies_that_look_names_up_are_not_mixed_with_those_that_do_not():
    with pytest.raises(ConfigError, match="socks5h"):
        looks_up(["socks5://127.0.0.1:1", "socks5h://127.0.0.1:2"])
