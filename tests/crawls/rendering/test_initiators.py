"""What a page of another site has requested is requested as by anybody: without the credentials of a section."""

import asyncio
from dataclasses import dataclass, field
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from evercrawl.config import Config, SiteRules
from evercrawl.crawl.rendering.errands import Errands
from evercrawl.crawl.rendering.rendering import Rendering
from evercrawl.crawl.sessions.credentials import Credentials
from evercrawl.crawl.sessions.network import SessionNetwork
from evercrawl.fetch.cookies import CookieJar
from evercrawl.model.stored.contents import body_of, contents
from evercrawl.model.stored.reading import Before, fetched, held
from evercrawl.parse.sites import registrable
from evercrawl.progress import Limits
from evercrawl.schedule.frontier.hosts import Host
from evercrawl.simulate.surroundings.clock import VirtualClock, run_virtual
from evercrawl.simulate.surroundings.network import MadeNetwork
from evercrawl.types import Exchange, Request
from tests.helpers.hashing import HASHER

OWN, EVIL = "https://www.own.example/", "https://evil.example/"
SECRET = "https://api.own.example/me"


class Inner:
    """A network that keeps what it is given, and answers nothing."""

    def __init__(self) -> None:
        self.started: list[Request] = []
        self.in_flight = 0

    def start(self, request: Request, addresses: Any = (), *, beside: str = "") -> None:
        self.started.append(request)

    def wake(self) -> None:
        pass

    async def finished(self, timeout_s: float) -> list[Exchange]:
        return []


def asked_by(initiator: str, url: str = SECRET, **rules: Any) -> tuple[list[Request], list[Exchange]]:
    """Return what is sent for a page, and what was answered without being sent."""

    async def go() -> tuple[list[Request], list[Exchange]]:
        inner, jar = Inner(), CookieJar(registrable)
        jar.set_from("api.own.example", "/", True, ["sid=5; Domain=own.example"], 1.0)
        section = SiteRules("own.example", headers=("X-Key: env:INITIATED",), cookies=True, **rules)
        made = Credentials(section, {"INITIATED": "k3y"})
        network = SessionNetwork(
            inner, [made], [section], VirtualClock(), jar=jar, save=lambda: None, say=lambda _: None, delay_s=1.0,
            deadline_s=9.0,
        )  # fmt: skip
        network.start(Request(url, initiator=initiator))
        return inner.started, await network.finished(0.0)

    return run_virtual(go())


@pytest.mark.parametrize("initiator", ["", OWN, "https://other.own.example:8443/"])
def test_the_crawl_and_pages_of_the_site_use_its_credentials(initiator):
    ((sent,), _) = asked_by(initiator)
    assert {name for name, _ in sent.headers} == {"X-Key", "Cookie"}


@pytest.mark.parametrize("initiator", [EVIL, "http://www.own.example/", "https://own.example.evil.example/"])
def test_pages_of_other_sites_and_unencrypted_ones_do_not(initiator):
    ((sent,), _) = asked_by(initiator)
    assert sent.headers == ()


def test_no_login_is_made_for_a_page_of_another_site():
    ((sent,), _) = asked_by(EVIL, login="https://own.example/login", login_fields=("user=me",))
    assert (sent.url, sent.headers) == (SECRET, ())


def test_no_certificate_is_shown_for_a_page_of_another_site(tmp_path):
    pem = tmp_path / "client.pem"
    pem.write_text("a key")
    pem.chmod(0o600)
    sent, (answer,) = asked_by(EVIL, certificate=str(pem))
    assert (sent, answer.error, answer.status) == ([], "foreign_page", 0)
    assert len(asked_by(OWN, certificate=str(pem))[0]) == 1


@dataclass(eq=False)
class FreeAccess:
    """Lets everything be requested at once, and answers it."""

    answered: Any = None
    shut: bool = False
    asked: list[Request] = field(default_factory=list)

    @property
    def addresses(self) -> Any:
        return self

    @property
    def side_requests(self) -> Any:
        return self

    async def turn(self, url: str) -> tuple[Any, Any]:
        return SimpleNamespace(number=0, addresses=("8.8.8.8",), in_flight=0, answers=0, succeeded=lambda: None), None

    def start(self, request: Request, host: Any, now: float) -> None:
        self.asked.append(request)
        exchange = Exchange(request, now, status=200, body=request.initiator.encode(), head=b"HTTP/1.1 200 OK\r\n\r\n")
        asyncio.get_running_loop().call_soon(self.answered, exchange, request.tag)

    def vacant(self, host: Any, exchange: Exchange) -> bool:
        return False

    def ended(self, host: Any, exchange: Exchange, now: float) -> None: ...

    def give_back(self, host: Any, held: Any) -> None: ...


def test_what_is_kept_for_pages_of_the_site_is_not_given_to_others():
    async def go() -> None:
        access = FreeAccess()
        robots = SimpleNamespace(of=lambda home, now: SimpleNamespace(open=True, rules=None))
        pace = SimpleNamespace(free=lambda now: True, started=lambda now: None, received=lambda now, size: None)
        errands = Errands(access, robots, VirtualClock(), pace, Config())  # pyright: ignore[reportArgumentType]
        access.answered = errands.take
        pages = [OWN, EVIL, OWN, "https://evil2.example/"]
        bodies = [(await errands.fetch(SECRET, initiator=page))[0].body.decode() for page in pages]
        assert bodies == [OWN, EVIL, OWN, EVIL]
        both = await asyncio.gather(*(errands.fetch(SECRET + "?2", initiator=page) for page in pages[:2]))
        assert [exchange.body.decode() for exchange, _ in both] == [OWN, EVIL]
        assert errands.began_at(SECRET) == float("inf")
        errands.forget([SECRET])
        assert (await errands.fetch(SECRET, initiator="https://evil2.example/"))[0].body == b"https://evil2.example/"

    run_virtual(go())


@pytest.mark.parametrize("shared", [True, False])
def test_a_fetch_still_waits_for_its_host_if_another_one_of_the_same_url_has_ended(shared):
    """Else the first would hold its slot among the quick ones for as long as its host likes."""

    class SlowAccess(FreeAccess):
        async def turn(self, url: str) -> tuple[Any, Any]:
            first, self.slow = not hasattr(self, "slow"), True
            await asyncio.sleep(50.0 if first else 1.0)
            return await super().turn(url)

    async def go() -> None:
        clock, access = VirtualClock(), SlowAccess()
        robots = SimpleNamespace(of=lambda home, now: SimpleNamespace(open=True, rules=None))
        pace = SimpleNamespace(free=lambda now: True, started=lambda now: None, received=lambda now, size: None)
        errands = Errands(access, robots, clock, pace, Config())  # pyright: ignore[reportArgumentType]
        access.answered = errands.take
        slow = asyncio.ensure_future(errands.fetch(SECRET, initiator=OWN, shared=shared))
        await asyncio.sleep(0.5)
        since = errands.began_at(SECRET)
        await errands.fetch(SECRET, initiator=EVIL, shared=shared)
        assert errands.began_at(SECRET) == since < clock.now() - 1.0
        await slow
        assert errands.began_at(SECRET) == float("inf")

    run_virtual(go())


class Leading:
    """Errands whose answers redirect as `moved` says; it keeps who asked."""

    def __init__(self, moved: dict[str, str]) -> None:
        self.moved = moved
        self.asked: list[tuple[str, str]] = []

    async def fetch(self, url: str, headers: Any = (), *, initiator: str = "", shared: bool = True) -> Any:
        self.asked.append((url, initiator))
        fields = {"location": self.moved[url]} if url in self.moved else {}
        return Exchange(Request(url), 1.0, status=302 if fields else 200, headers=fields), True


@pytest.mark.parametrize(
    ("page", "path", "askers"),
    [
        (OWN, [SECRET], [OWN]),
        (EVIL, [SECRET], [EVIL]),
        (OWN, [EVIL, SECRET], [OWN, EVIL]),
        (EVIL, [OWN, SECRET], [EVIL, EVIL]),
        (OWN, [OWN + "go", SECRET], [OWN, OWN]),
    ],
)
def test_a_request_of_a_browser_is_of_the_page_and_of_all_redirects(page, path, askers):
    asked = list[tuple[str, str]]()

    class Pool:
        async def rendered(self, url: str, answer: Any, pending: Any) -> str:
            async def fulfil(**_: Any) -> None: ...

            request = SimpleNamespace(
                url=path[0], method="GET", resource_type="script", headers={}, is_navigation_request=lambda: False
            )
            await answer(SimpleNamespace(request=request, fulfill=fulfil, abort=fulfil))
            return "<p>made</p>"

    async def go() -> None:
        done, errands = asyncio.Event(), Leading(dict(pairwise(path)))
        worth = SimpleNamespace(considers=lambda size: True, wanted=lambda *_: True)
        config = Config(render="always")
        rendering = Rendering(config, errands, lambda _: "", worth, done.set, Pool())  # pyright: ignore[reportArgumentType]
        fields = {"content-type": "text/html"}
        exchange = Exchange(Request(page), 1.0, status=200, headers=fields, body=b"<script src=x></script>")
        exchange.wire = exchange.body
        answer = fetched(exchange, Host(0, "a.example", 0), 0, Before(), 0.0)
        answer.take(contents(body_of(exchange, held(Before()), "evercrawl", HASHER, text=False, former=False)))
        assert rendering.takes(answer)
        await done.wait()
        asked.extend(errands.asked)

    run_virtual(go())
    assert asked == list(zip(path, askers, strict=True))


def test_a_requisite_is_of_the_site_only_if_a_page_of_it_needs_it_through_the_site_alone(run, monkeypatch):
    """Also where another site's style, or its own redirect that another site's page names, leads to it."""
    asked = dict[str, str]()
    start = MadeNetwork.start

    def noting(self: Any, request: Request, *given: Any, **more: Any) -> None:
        asked[request.url] = request.initiator
        start(self, request, *given, **more)

    monkeypatch.setattr(MadeNetwork, "start", noting)
    own, evil = "http://own.example", "http://evil.example"
    names = {"own.example": ["8.8.1.1"], "evil.example": ["8.8.2.1"]}
    world = run.World()
    style = "<link rel=stylesheet href={}>"
    css = {"Content-Type": "text/css"}

    def leads(*urls: str) -> Any:
        return run.Answer(200, css, "".join(f"p {{ background: url({url}) }}" for url in urls).encode())

    world.pages = {
        f"{own}/": world.html(head=style.format(f"{own}/s.css") + style.format(f"{evil}/s.css")),
        f"{evil}/": world.html(head=style.format(f"{own}/go"), text=f"<img src={own}/direct.png>"),
        f"{own}/s.css": leads(f"{own}/styled.png", f"{own}/both.png"),
        f"{evil}/s.css": leads(f"{own}/chosen.png", f"{own}/both.png"),
        f"{own}/go": run.Answer(302, {"Location": f"{own}/led.png"}),
    }
    settings = {"requisites": True, "requisites_from": "any", "sitemaps": False, "probe_share": 0.0}
    run(world, [f"{own}/", f"{evil}/"], Limits(seconds=300.0), names=names, **settings)
    of = {url.removeprefix(own): initiator.split("/")[2] for url, initiator in asked.items() if initiator}
    assert of == {
        "/s.css": "own.example", "/styled.png": "own.example", "/both.png": "own.example",
        f"{evil}/s.css": "own.example", "/go": "evil.example", "/direct.png": "evil.example",
        "/led.png": "evil.example", "/chosen.png": "null",
    }  # fmt: skip
