"""Logs in through a form as a person would: requests the page with the form, fills it in, and follows the result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from evercrawl.fetch.answer import unwrap
from evercrawl.model.stored.reading import REDIRECTS
from evercrawl.parse.forms.login_form import LoginForm, login_form
from evercrawl.parse.urls import hostname, normalise
from evercrawl.types import Exchange, Request

if TYPE_CHECKING:
    from evercrawl.crawl.sessions.credentials import Credentials

MOST_HOPS: Final = 5
"""The number of redirects followed before and after the form is sent."""
_BODY_BYTES: Final = 2 << 20
_FORM: Final = ("Content-Type", "application/x-www-form-urlencoded")

Ask: TypeAlias = Callable[[Request], Awaitable[Exchange]]
"""Makes an exchange once the host has rested."""


class LoginError(Exception):
    """A login failed; the message says why, and holds no secret."""


async def log_in(credentials: Credentials, ask: Ask, deadline_s: float) -> None:
    """Log in to a site; afterwards the session's cookies identify it.

    Raises
    ------
    LoginError
        There is no such form, or the values are not accepted.
    """
    names = [name for name, _ in credentials.login_fields]
    url, page = await _followed(credentials, ask, _request(credentials.rules.login, deadline_s))
    form = _form(page, url, names)
    if form is None:
        raise LoginError(f"{_said(page)} and has no form with the fields {', '.join(names)}")
    _, after = await _followed(credentials, ask, _sent(credentials, form, url, deadline_s))
    if not 200 <= after.status < 400:
        raise LoginError(f"the form was answered with {_said(after)}")
    if _form(after, url, names) is not None:
        raise LoginError("the form came back; user or password seem to be wrong")


def _request(
    url: str, deadline_s: float, headers: tuple[tuple[str, str], ...] = (), post: bytes | None = None
) -> Request:
    return Request(url, None, headers, _BODY_BYTES, _BODY_BYTES, deadline_s, post=post)


def _sent(credentials: Credentials, form: LoginForm, url: str, deadline_s: float) -> Request:
    if not _within(credentials, form.action):
        raise LoginError("its form is sent to another site, or unencrypted")
    filled = form.filled(credentials.login_fields)
    if not form.post:
        return _request(f"{form.action.partition('?')[0]}?{filled}", deadline_s)
    return _request(form.action, deadline_s, (_FORM, ("Referer", url)), filled.encode())


async def _followed(credentials: Credentials, ask: Ask, request: Request) -> tuple[str, Exchange]:
    """Follow a request; return the final URL and its answer. Redirects to other sites are not followed."""
    for _ in range(MOST_HOPS + 1):
        exchange = await ask(request)
        if exchange.error and not exchange.truncated:
            raise LoginError(f"no answer came ({exchange.error})")
        target = normalise(exchange.headers.get("location", ""), request.url) if exchange.status in REDIRECTS else None
        if target is None or not _within(credentials, target):
            if exchange.packed:
                unwrap(exchange)
            return request.url, exchange
        request = _request(target, request.deadline_s)
    raise LoginError(f"more than {MOST_HOPS} redirects in a row")


def _within(credentials: Credentials, url: str) -> bool:
    host, name = hostname(url), credentials.rules.name
    return (host == name or host.endswith(f".{name}")) and credentials.lets(url.startswith("https:"))


def _form(exchange: Exchange, url: str, names: list[str]) -> LoginForm | None:
    return login_form(exchange.body, url, exchange.headers.get("content-type", ""), names)


def _said(exchange: Exchange) -> str:
    return f"status {exchange.status}"
