"""Login forms: their target address and preset fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlencode

from evercrawl.parse.tree import base_of, parsed
from evercrawl.parse.urls import normalise

if TYPE_CHECKING:
    import turbohtml

MOST_FIELDS: Final = 200
_MOST_FORMS: Final = 50
_WITHOUT: Final = frozenset({"submit", "image", "button", "reset", "file"})


class LoginForm(NamedTuple):
    """A login form.

    Attributes
    ----------
    action
        The target address, normalised.
    post
        Whether it is sent by POST; otherwise as a query (GET).
    fields
        Names and values of its preset fields, such as a CSRF token.
    """

    action: str
    post: bool
    fields: tuple[tuple[str, str], ...]

    def filled(self, given: Sequence[tuple[str, str]]) -> str:
        """Return the filled-in form, encoded for sending.

        >>> LoginForm("http://a.example/in", True, (("csrf", "7"), ("user", ""))).filled([("user", "me & you")])
        'csrf=7&user=me+%26+you'
        """
        names = {name for name, _ in given}
        return urlencode([*(pair for pair in self.fields if pair[0] not in names), *given])


def login_form(body: bytes, url: str, content_type: str, names: Sequence[str]) -> LoginForm | None:
    """Return the first form of a page that has fields of all these names; None if there is none.

    Examples
    --------
    >>> page = b"<form method=post action=in><input type=hidden name=csrf value=7><input name=user></form>"
    >>> login_form(page, "http://a.example/", "text/html", ["user"])
    LoginForm(action='http://a.example/in', post=True, fields=(('csrf', '7'), ('user', '')))
    >>> login_form(page, "http://a.example/", "text/html", ["user", "password"]) is None
    True
    """
    if b"<form" not in body and b"<FORM" not in body:
        return None
    tree = parsed(body, content_type)
    base = base_of(tree, url)
    for form in tree.find_all("form", limit=_MOST_FORMS):
        fields, there = _fields(form)
        action = normalise(form.attr("action") or "", base) if form.attr("action") else url
        if there.issuperset(names) and action is not None:
            return LoginForm(action, (form.attr("method") or "").strip().lower() == "post", tuple(fields))
    return None


def _fields(form: turbohtml.Element) -> tuple[list[tuple[str, str]], set[str]]:
    """Return a form's preset values, and the names of all its fields."""
    sent, there, pressed = list[tuple[str, str]](), set[str](), False
    for field in form.find_all(["input", "button", "select", "textarea"], limit=MOST_FIELDS):
        name, kind = field.attr("name") or "", (field.attr("type") or "").lower()
        if not name or field.attr("disabled") is not None:
            continue
        there.add(name)
        if field.tag == "button" or kind in _WITHOUT:
            if not pressed and kind in ("submit", "") and field.attr("value"):
                sent.append((name, field.attr("value") or ""))
                pressed = True
        elif field.tag == "select":
            chosen = [option for option in field.find_all("option") if option.attr("selected") is not None]
            sent += [(name, option.attr("value") or "") for option in chosen]
        elif kind not in ("checkbox", "radio") or field.attr("checked") is not None:
            sent.append((name, field.attr("value") or ("on" if kind in ("checkbox", "radio") else "")))
    return sent, there
