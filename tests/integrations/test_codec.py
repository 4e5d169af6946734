"""Requests as bytes: what spiders ask for comes back, and nothing else does, whoever wrote the bytes."""

import dataclasses
import datetime as dt
import pickle
import sys
from collections import OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePath
from uuid import UUID

import attrs
import msgspec
import numpy as np
import pytest
import scrapy

from evercrawl.config import settings
from evercrawl.integrations.scrapy.codec import UnstorableError, decoded, encoded
from evercrawl.integrations.scrapy.stored_values import owned

URL = "https://a.example/x"


class Quote(scrapy.Item):
    """An item of Scrapy."""

    text = scrapy.Field()


@dataclasses.dataclass(frozen=True, slots=True)
class Author:
    """A dataclass."""

    name: str
    born: dt.date


@attrs.define
class Tag:
    """An attrs class."""

    name: str


class Mine(scrapy.Spider):
    """A spider with callbacks, and with what is none."""

    name = "mine"
    other = "no method"

    def parse(self, response):
        """Take a response."""

    def parse_author(self, response, named=""):
        """Take a response and more."""

    def failed(self, failure):
        """Take a failure."""

    def closed(self, reason):
        """End."""

    def helper(self):
        """Take nothing."""


class FormRequest(scrapy.FormRequest):
    """A kind of request of the project."""


NAIVE = dt.datetime(2026, 1, 2, fold=1)  # noqa: DTZ001
VALUES = [
    None,
    True,
    1,
    -(1 << 63),
    1 << 200,
    1.5,
    "\u20ac",
    b"\xff",
    [1, [2]],
    (1, (2, "x")),
    {1, 2},
    frozenset({3}),
    bytearray(b"x"),
    complex(1, 2),
    {"a": (1,), "b": {}},
    {(1, 2): "x", b"k": 1},
    OrderedDict(a=1),
    deque([1, (2,)], 3),
    defaultdict(list, a=[1]),
    dt.date(2026, 1, 2),
    dt.datetime(2026, 1, 2, 3, 4, 5, 6, dt.UTC),
    NAIVE,
    dt.time(1, 2, tzinfo=dt.timezone(dt.timedelta(hours=2))),
    dt.timedelta(-1, 2, 3),
    Decimal("1.10"),
    Fraction(1, 3),
    UUID(int=7),
    Quote(text="x"),
    Author("Ann", dt.date(1999, 1, 1)),
    Tag("x"),
    [Tag("y"), {"k": Quote(text=["z"])}],
]


def test_a_table_in_a_module_hides_none_of_the_classes_that_it_imports(monkeypatch):
    module = sys.modules[Mine.__module__]
    monkeypatch.setattr(module, "TABLE", np.zeros(3), raising=False)
    monkeypatch.setattr(module, "Imported", PurePath, raising=False)
    assert owned(PurePath, Mine())
    assert not owned(dict, Mine())


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_and_items_of_the_project_come_back(value):
    spider = Mine()
    request = scrapy.Request(URL, spider.parse_author, meta={"v": value}, cb_kwargs={"named": value}, priority=3)
    found = decoded(encoded(request, URL, spider), URL, spider)
    assert (found.meta["v"], found.cb_kwargs["named"], found.priority, found.url) == (value, value, 3, URL)
    assert type(found.meta["v"]) is type(value)
    assert found.callback == spider.parse_author


def test_forms_and_requests_of_the_project_come_back():
    spider = Mine()
    for kind in (scrapy.FormRequest, FormRequest):
        request = kind(
            f"{URL}#part", formdata={"a": "b"}, callback=spider.parse, errback=spider.failed, headers={"X": "y"}
        )
        found = decoded(encoded(request, "", spider), request.url, spider)
        assert (type(found), found.body, found.method, found.url) == (kind, b"a=b", "POST", f"{URL}#part")
        assert (found.callback, found.errback, found.headers) == (spider.parse, spider.failed, request.headers)
    assert encoded(scrapy.Request(URL), URL, spider) == b""


@pytest.mark.parametrize(
    "value", [settings.Config(), object(), Mine, len, lambda: 1, dt.datetime.now, defaultdict(lambda: 1)]
)
def test_what_is_no_value_of_the_project_is_not_stored(value):
    with pytest.raises(UnstorableError):
        encoded(scrapy.Request(URL, meta={"v": value}), URL, Mine())


def extension(code: int, parts: object) -> bytes:
    """Return bytes of a request with a value that somebody made up."""
    value = msgspec.msgpack.Ext(code, msgspec.msgpack.encode(parts))
    return msgspec.msgpack.encode({"meta": {"v": value}})


FORGED = {
    "a pickle that changes a class": b"\x80\x04}\x8c\x04metacevercrawl.config.settings\n"
    b"Config\nN}\x8c\x0auser_agent\x8c\x04EVILs\x86b0}s.",
    "a pickle": pickle.dumps({"meta": {}}, 4),
    "an object of evercrawl": extension(0, ["evercrawl.config.settings", "Config", {"delay_s": 0.0}]),
    "a class that is no item": extension(0, ["test_codec", "Mine", {"name": "x"}]),
    "a function": extension(0, ["os", "system", {}]),
    "an attribute that is no field": extension(0, ["test_codec", "Tag", {"__class__": "x"}]),
    "a module that is not imported": extension(0, ["antigravity", "x", {}]),
    "a kind that there is not": extension(99, []),
    "values within values": b"\xc9\x00\x00\x00\x01\x01" * 5000,
    "a factory": extension(10, ["system", []]),
    "no dictionary": msgspec.msgpack.encode([1]),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_a_stranger_stored_changes_no_class_and_makes_no_foreign_object(name):
    agent = settings.Config.__dict__["user_agent"]
    with pytest.raises(UnstorableError):
        decoded(FORGED[name], URL, Mine())
    assert settings.Config.__dict__["user_agent"] is agent


@pytest.mark.parametrize(
    "said",
    [
        *(
            {"callback": name}
            for name in ("log", "closed", "close", "from_crawler", "__init__", "start", "other", "helper", "x", 7)
        ),
        {"errback": "update_settings"},
        {"url": "file:///etc/passwd"},
        {"url": "https://b.example/"},
        {"_class": "evercrawl.types.Request"},
        {"_class": "os.system"},
        {"_class": "subprocess.Popen"},
    ],
    ids=str,
)
def test_only_callbacks_of_the_spider_and_the_url_itself_are_taken(said):
    with pytest.raises(UnstorableError):
        decoded(msgspec.msgpack.encode(said), URL, Mine())
    with pytest.raises(UnstorableError):
        decoded(b"", "file:///etc/passwd", Mine())
