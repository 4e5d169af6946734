"""A network that adds the headers of site sections to requests, keeps cookies, and logs in."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from evercrawl.config.page_patterns import text_search
from evercrawl.config.site_rules import Sites
from evercrawl.crawl.background import Background
from evercrawl.crawl.ports import AroundNetwork
from evercrawl.crawl.sessions.credentials import Credentials
from evercrawl.crawl.sessions.login import LoginError, log_in
from evercrawl.crawl.sessions.redacting import LEFT_OUT, redacted, set_cookies
from evercrawl.errors import StoreError
from evercrawl.fetch.answer import unwrap
from evercrawl.model.rules.robots import RobotsTag
from evercrawl.model.stored.reading import REDIRECTS
from evercrawl.parse.sites import same_site
from evercrawl.parse.urls import hostname, normalise, path_query
from evercrawl.types import Exchange, Request

if TYPE_CHECKING:
    from evercrawl.clock import Clock
    from evercrawl.config import SiteRules
    from evercrawl.crawl.ports import Network
    from evercrawl.fetch.cookies import CookieJar
    from evercrawl.schedule.frontier.hosts import Host

AGAIN_S: Final = 60.0
"""The wait after a failed login; it doubles each time."""
AGAIN_MOST_S: Final = 3600.0
SAVE_S: Final = 60.0
"""The shortest interval between writes of changed cookies; those of a login are written at once, all at the end."""
NO_LOGIN: Final = "login"
"""The error of a page that was not requested because no login succeeded."""
COOKIE_WALL: Final = "cookie_wall"
"""The error of a page that sets cookies and redirects to itself."""
FOREIGN: Final = "foreign_page"
"""The error of a request for a page of another site, if the connection would show a client certificate."""
_SET_COOKIE: Final = frozenset({"set-cookie"})
_LOOKED_BYTES: Final = 256 << 10  # the part of a page that is searched for `logged_out`


@dataclass(eq=False, slots=True)
class Session:
    """The state of one section during a run.

    Attributes
    ----------
    credentials
        Its secrets.
    logged_in, under_way
        Whether it is logged in, as far as is known; whether a login is under way.
    why, again_at, failures
        Why the last login failed, when the next may be tried, and how many failed in a row.
    waiting
        Requests that wait for a login.
    refused
        Whether it was reported that its user or token is refused.
    """

    credentials: Credentials
    logged_in: bool = False
    under_way: bool = False
    why: str = ""
    again_at: float = 0.0
    failures: int = 0
    waiting: list[_Asked] = field(default_factory=list["_Asked"])
    refused: bool = False


@dataclass(eq=False, slots=True)
class _Asked:
    """A request of the crawl as it was given, and what was done about it; the tag of the request that is sent."""

    request: Request
    addresses: Sequence[str]
    beside: str
    session: Session
    sent_by: Credentials
    logged_in_again: bool = False
    with_cookies: bool = False

    @property
    def host(self) -> Host | None:
        """The host whose turn it is, if known."""
        return getattr(self.request.tag, "host", None)


@dataclass(frozen=True, eq=False, slots=True)
class _Step:
    """Marks an exchange of a login, and holds the future that awaits it."""

    answered: asyncio.Future[Exchange]


class SessionNetwork(AroundNetwork):
    """Adds to requests what the sections of their sites say, and removes secrets from answers.

    Requests that a page of another site initiates are made as for anybody, without fields, cookies or a login.

    Parameters
    ----------
    inner
        The network that makes the exchanges.
    credentials
        The credentials of the sections that have a session.
    sections
        All sections: if several match a host, the one with the longest name applies.
    clock, delay_s
        The clock; the rest of a host whose section names none.
    jar, save
        The cookies; called to have them written.
    say
        Called with a sentence for people.
    deadline_s
        The time limit of one exchange of a login.
    """

    def __init__(
        self,
        inner: Network,
        credentials: Sequence[Credentials],
        sections: Sequence[SiteRules],
        clock: Clock,
        *,
        jar: CookieJar,
        save: Callable[[], None],
        say: Callable[[str], None],
        delay_s: float,
        deadline_s: float,
    ) -> None:
        super().__init__(inner)
        self._clock, self._jar, self._save, self._say = clock, jar, save, say
        self._deadline_s = deadline_s
        self._sessions: dict[str, Session] = {}
        self.change(credentials, sections, delay_s)
        self._ended: list[Exchange] = []
        self._background = Background(inner.wake)
        self._paused = 0  # requests that wait here
        self._saved, self._saved_at = jar.version, clock.now()

    def change(self, credentials: Sequence[Credentials], sections: Sequence[SiteRules], delay_s: float) -> None:
        """Use these from now on. Exchanges under way end with the old credentials, and logins remain valid.

        Different `login_fields` make another session, which logs in again.
        """
        self._sites, self._delay_s, before = Sites(sections), delay_s, self._sessions
        self._sessions = {}
        for one in credentials:
            session, login = before.get(one.rules.name), one.rules.login
            if session is not None and session.credentials.same_login(one):
                session.credentials, session.refused = one, False
            else:
                known = session is None and bool(login) and self._jar.holds(hostname(login))
                session = Session(one, logged_in=known)
            self._sessions[one.rules.name] = session

    @property
    def in_flight(self) -> int:
        """The number of exchanges under way, or waiting for a login."""
        return self._inner.in_flight + self._paused + len(self._ended)

    def start(self, request: Request, addresses: Sequence[str] = (), *, beside: str = "") -> None:
        """Begin an exchange; if the site needs a login, begin after it."""
        session = self._session_of(hostname(request.url))
        if session is not None and not same_site(request.initiator, request.url):
            if session.credentials.certificate is not None and request.url.startswith("https:"):
                why = "a page of another site requests it, and the connection would show a client certificate"
                self._end(Exchange(request, self._clock.now(), error=FOREIGN, detail=why))
                return
            session = None
        if session is None:
            self._inner.start(request, addresses, beside=beside)
        elif isinstance(request.tag, RobotsTag) or not session.credentials.rules.login or session.logged_in:
            self._begin(_Asked(request, addresses, beside, session, session.credentials))
        else:
            self._await_login(_Asked(request, addresses, beside, session, session.credentials))

    async def finished(self, timeout_s: float) -> list[Exchange]:
        """Return the exchanges that have ended, except those of logins."""
        self._background.check()
        if not self._ended:
            for exchange in await self._inner.finished(timeout_s):
                tag = exchange.request.tag
                if isinstance(tag, _Step):
                    if not tag.answered.done():
                        tag.answered.set_result(exchange)
                elif isinstance(tag, _Asked):
                    self._take(exchange, tag)
                else:
                    self._ended.append(exchange)
        ended, self._ended = self._ended, []
        if self._jar.version != self._saved and self._clock.now() >= self._saved_at + SAVE_S:
            self._write()
        return ended

    async def close(self) -> None:
        """Abandon the exchanges under way, and write the cookies."""
        self._background.close()
        await self._background.ended()
        if self._jar.version != self._saved:
            self._write()
        await super().close()

    def _session_of(self, host: str) -> Session | None:
        """Return the session of the section that applies to a host, the one with the longest name."""
        if not self._sessions:
            return None
        rules = self._sites.of(host)
        return self._sessions.get(rules.name) if rules is not None else None

    def _write(self) -> None:
        with contextlib.suppress(StoreError):  # this process keeps them in memory anyway
            self._save()
        self._saved, self._saved_at = self._jar.version, self._clock.now()

    # Requests

    def _begin(self, asked: _Asked) -> None:
        request, credentials = asked.request, asked.session.credentials
        asked.sent_by = credentials
        headers = (*request.headers, *self._fields(request.url, credentials))
        made = msgspec.structs.replace(request, tag=asked, headers=headers)
        self._inner.start(made, asked.addresses, beside=asked.beside)

    def _fields(self, url: str, credentials: Credentials) -> tuple[tuple[str, str], ...]:
        """Return the header fields that the section of a site adds."""
        https = url.startswith("https:")
        fields = credentials.fields(https)
        if credentials.cookies and credentials.lets(https):
            cookies = self._jar.header(hostname(url), path_query(url), https, self._clock.now())
            fields += (("Cookie", cookies),) if cookies else ()
        return fields

    async def _rest(self, asked: _Asked) -> None:
        """Wait as long as a host rests between two exchanges."""
        rest_s = asked.session.credentials.rules.rest_s(self._delay_s)
        await self._clock.sleep(max(rest_s, asked.host.delay_s if asked.host is not None else 0.0))

    # Answers

    def _take(self, exchange: Exchange, asked: _Asked) -> None:
        """Process the answer to a request of the crawl: pass it on, or ask again after a login or with new cookies."""
        session = asked.session
        exchange.request = asked.request
        new_cookies = self._take_cookies(exchange, asked.sent_by)
        self._redact(exchange, asked.sent_by)
        if not asked.logged_in_again and self._logged_out(exchange, session):
            if session.logged_in:
                self._say(f"{session.credentials.rules.name}: the login has expired; logging in again")
            session.logged_in, asked.logged_in_again = session.under_way, True
            self._await_login(asked)
            return
        to_itself = _to_itself(exchange)
        if to_itself and new_cookies and not asked.with_cookies:
            asked.with_cookies = True
            self._later(asked)
            return
        if to_itself and asked.with_cookies:
            exchange.error, exchange.detail = COOKIE_WALL, "it redirects to itself whatever cookies it is sent"
            exchange.status = 0
        if exchange.status == 401 and not session.refused and session.credentials.secret:
            session.refused = True
            self._say(f"{session.credentials.rules.name}: {exchange.request.url} refuses the user, token or header")
        self._ended.append(exchange)

    def _take_cookies(self, exchange: Exchange, sent_by: Credentials) -> bool:
        """Store the cookies that an answer sets; return whether one of them is new."""
        url = exchange.request.url
        if not sent_by.cookies or "set-cookie" not in exchange.headers:
            return False
        lines, https = set_cookies(exchange.head), url.startswith("https:")
        return self._jar.set_from(hostname(url), path_query(url), https, lines, self._clock.now())

    @staticmethod
    def _redact(exchange: Exchange, sent_by: Credentials) -> None:
        """Remove the secrets from an exchange."""
        exchange.sent = redacted(exchange.sent, sent_by.secret_names)
        if sent_by.cookies and "set-cookie" in exchange.headers:
            exchange.head = redacted(exchange.head, _SET_COOKIE)
            exchange.headers = exchange.headers | {"set-cookie": LEFT_OUT}

    @staticmethod
    def _logged_out(exchange: Exchange, session: Session) -> bool:
        """Whether an answer is one for clients that are not logged in."""
        rules = session.credentials.rules
        if not rules.login or isinstance(exchange.request.tag, RobotsTag):
            return False
        if exchange.status in REDIRECTS:
            target = normalise(exchange.headers.get("location", ""), exchange.request.url) or ""
            return _place(target) == _place(rules.login) != _place(exchange.request.url)
        if exchange.status == 401:
            return True
        return bool(rules.logged_out) and exchange.status > 0 and _shows(exchange, rules.logged_out)

    # Logging in

    def _await_login(self, asked: _Asked) -> None:
        session, now = asked.session, self._clock.now()
        if session.logged_in or self._left(asked):  # another page found it expired, and the login was renewed
            self._later(asked)
            return
        if now < session.again_at:
            self._give_up(asked)
            return
        session.waiting.append(asked)
        self._paused += 1
        if not session.under_way:
            session.under_way = True
            self._background.start(self._log_in(session, asked))

    async def _log_in(self, session: Session, first: _Asked) -> None:
        """Log in, and let the waiting requests continue."""
        name = session.credentials.rules.name

        async def ask(request: Request) -> Exchange:
            return await self._exchange(request, session, first)

        try:
            await log_in(session.credentials, ask, self._deadline_s)
        except LoginError as error:
            session.failures += 1
            session.why = f"logging in failed at {session.credentials.rules.login}: {error}"
            wait_s = min(AGAIN_S * 2.0 ** (session.failures - 1), AGAIN_MOST_S)
            session.again_at = self._clock.now() + wait_s
            self._say(f"{name}: {session.why}; it is tried again in {wait_s:.0f} s")
        else:
            session.logged_in, session.failures, session.why = True, 0, ""
            self._say(f"{name}: logged in")
            self._write()
        finally:
            session.under_way = False
        waiting, session.waiting = session.waiting, []
        self._paused -= len(waiting)
        for asked in waiting:
            if session.logged_in or self._left(asked):
                self._later(asked)
            else:
                self._give_up(asked)
        self._inner.wake()

    async def _exchange(self, request: Request, session: Session, first: _Asked) -> Exchange:
        """Make one exchange of a login, after a rest; the crawl does not see its answer."""
        await self._rest(first)
        answered = asyncio.get_running_loop().create_future()
        same = hostname(request.url) == hostname(first.request.url)
        headers = (*request.headers, *self._fields(request.url, session.credentials))
        made = msgspec.structs.replace(request, tag=_Step(answered), headers=headers)
        self._inner.start(made, first.addresses if same else ())
        exchange: Exchange = await answered
        self._take_cookies(exchange, session.credentials)
        return exchange

    def _later(self, asked: _Asked) -> None:
        """Make a request once its host has rested."""

        async def begin() -> None:
            try:
                await self._rest(asked)
            finally:
                self._paused -= 1
            if self._left(asked):
                self.start(asked.request, asked.addresses, beside=asked.beside)
            else:
                self._begin(asked)

        self._paused += 1
        self._background.start(begin())

    def _left(self, asked: _Asked) -> bool:
        """Whether another section, or none, now applies to the host of a request."""
        return self._session_of(hostname(asked.request.url)) is not asked.session

    def _give_up(self, asked: _Asked) -> None:
        self._end(Exchange(asked.request, self._clock.now(), error=NO_LOGIN, detail=asked.session.why))

    def _end(self, exchange: Exchange) -> None:
        self._ended.append(exchange)
        self._inner.wake()


def _to_itself(exchange: Exchange) -> bool:
    """Whether an answer redirects to its own URL."""
    if exchange.status not in REDIRECTS:
        return False
    return normalise(exchange.headers.get("location", ""), exchange.request.url) == exchange.request.url


def _place(url: str) -> str:
    """Return a URL without its query."""
    return url.partition("?")[0]


def _shows(exchange: Exchange, expression: str) -> bool:
    """Whether a regular expression matches in a page."""
    page = msgspec.structs.replace(exchange)
    if page.packed:
        unwrap(page)
    return text_search(expression)(page.body[:_LOOKED_BYTES].decode("utf-8", "replace"))
