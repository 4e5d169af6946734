"""Answers that servers of tests give, byte by byte, and what of an exchange tests look at."""

import asyncio
from pathlib import Path

from evercrawl.types import Exchange

OK = b"HTTP/1.1 200 OK\r\n"
HI = OK + b"Content-Length: 2\r\n\r\nhi"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
CA = str(Path(__file__).parents[1] / "fetch" / "data" / "site.pem")


def outcome(exchange: Exchange) -> tuple[int, str, bool, bytes]:
    """Return status, class of failure, whether it was cut, and body."""
    return exchange.status, exchange.error, exchange.truncated, exchange.body


async def hold(connection: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
    """Say nothing until the other side goes."""
    await connection[0].read(1)
