"""A crawl records what pages, headers and robots.txt ask of those who train models, and tells it in all answers."""

import asyncio

from evercrawl.ask.reading.content_table import ContentTable
from evercrawl.ask.reading.selection import Wanted
from evercrawl.ask.status import status
from evercrawl.ask.why.why import why
from evercrawl.cli.verbs.asking.status import rows
from evercrawl.model.view import View, settings
from evercrawl.simulate.worlds.made_web import Answer

ROBOTS = b"User-agent: *\nContent-Signal: ai-train=no\nAllow: /\n\nUser-agent: GPTBot\nDisallow: /\n"


def test_a_crawl_records_and_tells_them(live):
    async def go() -> str:
        async with live.Server() as server:
            server.extra |= {
                "/robots.txt": Answer(200, {"Content-Type": "text/plain"}, ROBOTS),
                "/": live.html("/meta", "/header", text="no wish of its own"),
                "/meta": live.html(text="of the meta", head="<meta name=robots content=noai>"),
                "/header": live.html(text="of the header", TDM_Reservation="1", X_Robots_Tag="noimageai"),
            }
            seed = f"{server.web.origins[0]}/"
            await live.crawl([seed], refresh_after_s=1000.0, probe_share=0.0)
            return seed

    seed = asyncio.run(go())
    site = {"train", "agents"}
    with live.partition() as partition:
        view = View(partition, settings(partition.directory)[0], 2e9)
        assert set(why(view, f"{seed}meta").optouts) == site | {"noai"}
        assert set(why(view, seed).optouts) == site
        table = ContentTable(partition, Wanted())
        said = {
            url: set(optouts.split())
            for piece in table.pieces()
            for url, optouts in zip(piece["url"], piece["optouts"], strict=True)
        }
    assert said[f"{seed}header"] == site | {"tdm", "noimageai"}
    found = status(live.directory)
    assert found.optouts == {"train": 3, "agents": 3, "noai": 1, "noimageai": 1, "tdm": 1}
    assert any(name == "opt-outs" and "noai 1" in text for name, text in rows(found))
    live.verified()


def test_what_tdmrep_json_reserves_is_recorded_from_the_first_page_on(live):
    said = b'[{"location": "/", "tdm-reservation": 1}, {"location": "/open/", "tdm-reservation": 0}]'

    async def go(**more: bool) -> tuple[str, list[str]]:
        async with live.Server() as server:
            server.extra |= {
                "/.well-known/tdmrep.json": Answer(200, {"Content-Type": "application/json"}, said),
                "/": live.html("/open/a", "/says", text="reserved"),
                "/open/a": live.html(text="open"),
                "/says": live.html(text="says so itself", TDM_Reservation="0"),
            }
            seed = f"{server.web.origins[0]}/"
            await live.crawl([seed], refresh_after_s=1000.0, probe_share=0.0, sitemaps=False, **more)
            return seed, [served.path for served in server.log]

    seed, asked = asyncio.run(go(tdmrep=True))
    assert asked.index("/.well-known/tdmrep.json") < asked.index("/")
    assert asked.count("/.well-known/tdmrep.json") == 1
    with live.partition() as partition:
        view = View(partition, settings(partition.directory)[0], 2e9)
        found = {path: why(view, f"{seed}{path}").optouts for path in ("", "open/a", "says")}
    assert found == {"": ("tdm",), "open/a": (), "says": ()}
    live.directory = live.directory.with_name("other")
    assert "/.well-known/tdmrep.json" not in asyncio.run(go())[1]
