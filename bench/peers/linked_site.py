"""A site of quotations on loopback: every page is answered, and each request is noted.

Usage: linked_site.py PAGES LOG [DELAY_S]; prints its port. Page N links to 2N + 1 and 2N + 2, and to eight others.
"""

import asyncio
import sys
from pathlib import Path

PAGES, LOG = int(sys.argv[1]), Path(sys.argv[2])
DELAY_S = float(sys.argv[3]) if len(sys.argv) > 3 else 0.0
NOTES = LOG.open("a", buffering=1)
QUOTES = 10


def page(number: int) -> bytes:
    """Return a page."""
    links = [2 * number + 1, 2 * number + 2, *((7 * number + 13 * k) % PAGES for k in range(QUOTES - 2))]
    quotes = "".join(
        f'<div class="quote"><span class="text">What {number} says, {k}</span>'
        f'<small class="author">Author {link % 50}</small><a class="tag" href="/page/{link}/">next</a></div>\n'
        for k, link in enumerate(links)
        if link < PAGES
    )
    return f"<html><head><title>Page {number}</title></head><body>{quotes}</body></html>".encode()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection."""
    try:
        while True:
            path = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1].decode()
            NOTES.write(f"{path}\n")
            await asyncio.sleep(DELAY_S)
            number = path.strip("/").removeprefix("page/")
            known = number.isdigit() and int(number) < PAGES
            body = page(int(number)) if known else b"no such page"
            status = "200 OK" if known else "404 Not Found"
            head = f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main() -> None:
    """Serve until killed."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


asyncio.run(main())
