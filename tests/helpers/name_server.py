"""A name server on loopback that says exactly what a test wants."""

import asyncio
import socket
import struct
from typing import Self

A, CNAME, AAAA = 1, 5, 28
NXDOMAIN, SERVFAIL = 3, 2


class NameServer(asyncio.DatagramProtocol):
    """A name server on loopback: name -> {type: [data]}; a number is an error code, None is silence."""

    def __init__(self, zone) -> None:
        self.zone = zone
        self.asked = []
        self.ttl_s = 60

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self.transport, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=("127.0.0.1", 0))
        host, port = self.transport.get_extra_info("sockname")
        self.address = f"{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.transport.close()
        await asyncio.sleep(0)

    def datagram_received(self, data, addr):
        name, record_type, question = self._question(data)
        self.asked.append((name, record_type))
        held = self.zone.get(name.lower(), NXDOMAIN)
        if isinstance(held, dict):
            held = held.get(record_type, [])
        if held is None:
            return
        code = held if isinstance(held, int) else 0
        records = [] if isinstance(held, int) else [self._record(each, self.ttl_s) for each in held]
        header = data[:2] + struct.pack(">HHHHH", 0x8180 | code, 1, len(records), 0, 0)
        self.transport.sendto(header + question + b"".join(records), addr)

    @staticmethod
    def _question(data) -> tuple[str, int, bytes]:
        at, labels = 12, []
        while data[at]:
            labels.append(data[at + 1 : at + 1 + data[at]].decode())
            at += 1 + data[at]
        (record_type,) = struct.unpack(">H", data[at + 1 : at + 3])
        return ".".join(labels), record_type, data[12 : at + 5]

    @staticmethod
    def _record(text, ttl_s) -> bytes:
        if text.startswith("="):
            data = b"".join(bytes([len(part)]) + part.encode() for part in text[1:].split(".")) + b"\0"
            record_type = CNAME
        else:
            family, record_type = (socket.AF_INET6, AAAA) if ":" in text else (socket.AF_INET, A)
            data = socket.inet_pton(family, text)
        return b"\xc0\x0c" + struct.pack(">HHIH", record_type, 1, ttl_s, len(data)) + data
