"""A site for members: a login form with a token against forgery, pages behind it, and other ways to say who asks."""

import asyncio
from base64 import b64encode
from itertools import count
from typing import Any
from urllib.parse import parse_qs

from loopback import Server

USER, PASSWORD = "me", "hunter2"


class MemberSite(Server):
    """Pages under /members need the cookie of a login, /basic a password, /bearer a token, /key a field of ours.

    Attributes
    ----------
    requests
        Heads, in order; `posts` are the bodies of POST requests.
    sessions
        Ids of those who are logged in; to clear it logs everybody out.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.posts: list[str] = []
        self.sessions: set[str] = set()
        self.tokens: set[str] = set()
        self.numbers = count(1)
        self.expired_as, self.action = "redirect", "/login"

    async def speak(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.requests.append(head.encode("latin-1"))
            lines = head.split("\r\n")
            fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
            body = (await reader.readexactly(int(fields.get("content-length", "0")))).decode()
            method, target, _ = lines[0].split()
            writer.write(self.reply(method, target.partition("?")[0], fields, body))
            await writer.drain()

    def reply(self, method: str, path: str, fields: dict[str, str], body: str) -> bytes:
        cookies = dict(pair.partition("=")[::2] for pair in fields.get("cookie", "").split("; "))
        if path == "/login":
            return self.login(method, body)
        if path.startswith("/members"):
            if cookies.get("sid") in self.sessions:
                return page(f"for members {path}", "/members/a", "/members/b", "/members/c")
            return {
                "redirect": to("/login?next=" + path, "seen=1"), "status": page("no", status=401),
                "page": page("Please log in first"),
            }[self.expired_as]  # fmt: skip
        if path.startswith("/wall"):
            return page("behind the wall") if cookies.get("ok") == "1" else to(path, "ok=1; Path=/")
        if path.startswith("/round"):
            return to("/there" if path == "/round" else "/round", "check=1; Path=/")
        if path.startswith("/there"):
            return to("/round", "check=2; Path=/")
        if path.startswith("/hard"):
            return to(path, f"n{next(self.numbers)}=1; Path=/")
        wanted = {
            "/basic": ("authorization", f"Basic {b64encode(f'{USER}:{PASSWORD}'.encode()).decode()}"),
            "/bearer": ("authorization", "Bearer t0ken"),
            "/key": ("x-key", "k3y"),
        }.get(path)
        if wanted is not None:
            return page(f"let in {path}") if fields.get(wanted[0]) == wanted[1] else page("no", status=401)
        if path == "/":
            return page("home", "/members/a", "/basic")
        return page("nothing", status=404)

    def login(self, method: str, body: str) -> bytes:
        if method == "POST":
            self.posts.append(body)
            form = {name: values[0] for name, values in parse_qs(body).items()}
            token = form.get("csrf", "")
            if token in self.tokens and (form.get("user"), form.get("password")) == (USER, PASSWORD):
                self.tokens.discard(token)
                self.sessions.add(f"s3cret{token}")
                return to("/members/welcome", f"sid=s3cret{token}; Path=/; HttpOnly")
        token = f"t{next(self.numbers)}"
        self.tokens.add(token)
        form = (
            f"<form action=/search><input name=q></form><form method=post action='{self.action}'>"
            f"<input type=hidden name=csrf value={token}><input name=user><input type=password name=password>"
            f"<button name=go value=1>in</button></form>"
        )
        return page(form)


def page(text: str, *links: str, status: int = 200) -> bytes:
    body = f"<title>t</title><p>{text}</p>{' '.join(f'<a href={link}>x</a>' for link in links)}".encode()
    head = f"HTTP/1.1 {status} X\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def to(path: str, cookie: str) -> bytes:
    return f"HTTP/1.1 302 X\r\nLocation: {path}\r\nSet-Cookie: {cookie}\r\nContent-Length: 0\r\n\r\n".encode()
