"""tdmrep.json of strangers: what is read and kept of it is bounded, per file, per site and in all."""

import asyncio
import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from evercrawl.crawl.visit import tdm_policies
from evercrawl.crawl.visit.tdm_policies import MOST_BYTES, MOST_OF_SITE, TdmPolicies
from evercrawl.types import Exchange, OptOut, Request


class Answers:
    """Stands for errands: each origin's file is what a test says, cut off at the size asked for."""

    def __init__(self, body: bytes) -> None:
        self.body, self.asked = body, list[str]()

    async def fetch(self, url: str, *, shared: bool, most_bytes: int) -> tuple[Exchange, bool]:
        assert not shared
        self.asked.append(url)
        cut = len(self.body) > most_bytes
        return Exchange(Request(url, None), 0.0, status=200, body=self.body[:most_bytes], truncated=cut), True


def policies(body: bytes) -> tuple[TdmPolicies, Answers]:
    answers, frontier = Answers(body), SimpleNamespace(release=lambda host: host.released.set())
    clock = SimpleNamespace(now=lambda: 1e9)
    return TdmPolicies(cast("Any", answers), cast("Any", frontier), cast("Any", clock), lambda: None), answers


async def ask(found: TdmPolicies, *urls: str) -> None:
    for url in urls:
        host = SimpleNamespace(held="", released=asyncio.Event())
        assert found.waits(cast("Any", host), url)
        await host.released.wait()
        assert not host.held
        assert not found.waits(cast("Any", host), url)


def rules(size: int) -> bytes:
    one = json.dumps({"location": "/" + "a" * 470, "tdm-reservation": 1})
    some = json.dumps({"location": "/some", "tdm-reservation": 1})
    return f"[{','.join([some, *[one] * (size // (len(one) + 1) - 1)])}]".encode()


def test_a_file_over_the_limit_reserves_everything():
    for body, reserved in ((rules(MOST_BYTES), 0), (rules(MOST_BYTES + 2000), OptOut.TDM)):
        found, answers = policies(body)
        asyncio.run(ask(found, "http://a.test/page"))
        assert found.optouts("http://a.test/page") == reserved
        assert len(answers.asked) == 1


def test_one_site_has_a_part_of_the_room_and_loses_no_time_by_asking_again():
    found, answers = policies(rules(MOST_BYTES))
    urls = [f"http://h{number}.evil.test/" for number in range(40)]
    asyncio.run(ask(found, "http://good.test/", *urls))
    assert found.held_bytes <= MOST_OF_SITE + MOST_BYTES
    assert len(answers.asked) == 41
    assert [found.optouts(f"http://good.test/{path}") for path in ("", "some")] == [0, OptOut.TDM]
    assert [found.optouts(url) for url in (urls[0], f"{urls[0]}some", urls[-1])] == [0, OptOut.TDM, OptOut.TDM]


def test_all_sites_together_have_a_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tdm_policies, "MOST_HELD_BYTES", 10 * MOST_BYTES)
    found, _ = policies(rules(MOST_BYTES))
    urls = [f"http://site{number}.test/" for number in range(40)]
    asyncio.run(ask(found, *urls))
    assert found.held_bytes <= 10 * MOST_BYTES
    assert [found.optouts(f"{url}some") for url in (urls[0], urls[-1])] == [0, OptOut.TDM]
    asyncio.run(ask(found, urls[0]))  # it is asked for again
    assert found.optouts(f"{urls[0]}some") == OptOut.TDM
