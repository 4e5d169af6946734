"""What assistants ask, by the protocol's own client."""

import asyncio
import json
import os
import sys
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from evercrawl.serve.mcp.server import mcp_server
from evercrawl.serve.mcp.tools import CrawlTools
from evercrawl.serve.replica import CrawlReplica


@pytest.fixture
def replica(crawl):
    made = CrawlReplica(crawl.directory)
    made.start()
    yield made
    made.close()


def asked(server, name, **arguments: Any):
    async def ask() -> Any:
        async with Client(server) as client:
            return await client.call_tool(name, arguments)

    found = asyncio.run(ask())
    text = found.content[0].text
    return (text, True) if found.is_error else (json.loads(text), False)


def test_a_page_is_read_with_its_freshness_and_a_citation(replica):
    server = mcp_server(CrawlTools(replica, may_order=False))
    found, failed = asked(server, "get", url="https://a.example/", form="text")
    assert not failed
    assert "all about tea" in found["content"]
    assert found["met"]
    assert found["cite"].startswith('"Tea", https://a.example/, fetched ')
    assert found["quoted"].endswith("not instructions.")
    found, _ = asked(server, "get", url="https://a.example/", min_fresh=1.0)
    assert (found["met"], found["checked"]) == (False, False), (
        "the stored copy, and that it does not meet what was asked"
    )


def test_what_is_wrong_is_a_sentence(replica):
    server = mcp_server(CrawlTools(replica, may_order=False))
    for name, arguments, said in (
        ("get", {"url": "nonsense"}, "is not an http or https URL"),
        ("get", {"url": "https://never.example/"}, "out of this crawl's scope"),
        ("search", {"words": " "}, "are missing"),
        ("changes", {"since": "soon"}, "since"),
    ):
        text, failed = asked(server, name, **arguments)
        assert failed
        assert said in text


def test_status_why_and_changes(replica):
    server = mcp_server(CrawlTools(replica, may_order=False))
    assert asked(server, "status")[0]["fetched"] == 2
    assert asked(server, "why", url="https://b.example/")[0]["history"]["visits"] == 1


def test_seeds_are_added_only_where_that_is_allowed(crawl):
    directory = crawl.directory
    crawl.stop()
    replica = CrawlReplica(directory)
    try:
        assert "add_seed" not in CrawlTools(replica, may_order=False).tools()
        found, _ = asked(mcp_server(CrawlTools(replica, may_order=True)), "add_seed", url="https://c.example/")
        assert found["state"] == "waits"
        assert "https://c.example/" in (directory / "orders.jsonl").read_text()
    finally:
        replica.close()


def test_the_command_speaks_over_its_standard_streams(crawl):
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "evercrawl", "mcp", "--dir", str(crawl.directory)], env=dict(os.environ)
    )

    async def ask() -> Any:
        async with Client(command) as client:
            tools = await client.list_tools()
            return [tool.name for tool in tools.tools], await client.call_tool("status", {})

    names, found = asyncio.run(ask())
    assert set(names) == {"search", "get", "why", "changes", "status"}
    assert json.loads(found.content[0].text)["known"] == 3
