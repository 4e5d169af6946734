# Only what evercrawl uses of pycurl 7.45 and later.

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

class error(Exception): ...  # noqa: N801, N818

class CurlSockAddr(NamedTuple):
    family: int
    socktype: int
    protocol: int
    addr: tuple[str, int] | tuple[str, int, int, int] | bytes

class Curl:
    def setopt(
        self, option: int, value: int | str | bytes | Sequence[str] | Sequence[bytes] | Callable[..., object]
    ) -> None: ...
    def unsetopt(self, option: int) -> None: ...
    def getinfo(self, option: int) -> int | float | str: ...
    def perform(self) -> None: ...
    def close(self) -> None: ...

class CurlMulti:
    def setopt(self, option: int, value: int | Callable[..., object]) -> None: ...
    def add_handle(self, curl: Curl, /) -> None: ...
    def remove_handle(self, curl: Curl, /) -> None: ...
    def socket_action(self, fd: int, events: int, /) -> tuple[int, int]: ...
    def info_read(self, most: int = ..., /) -> tuple[int, list[Curl], list[tuple[Curl, int, str]]]: ...
    def close(self) -> None: ...

ACTIVESOCKET: Final[int]
CAINFO: Final[int]
CONNECTTIMEOUT_MS: Final[int]
CSELECT_ERR: Final[int]
CSELECT_IN: Final[int]
CSELECT_OUT: Final[int]
CURL_HTTP_VERSION_1_0: Final[int]
CURL_HTTP_VERSION_1_1: Final[int]
CURL_HTTP_VERSION_2: Final[int]
CURL_HTTP_VERSION_2TLS: Final[int]
FOLLOWLOCATION: Final[int]
FRESH_CONNECT: Final[int]
HEADERFUNCTION: Final[int]
HTTPGET: Final[int]
HTTPHEADER: Final[int]
HTTP_TRANSFER_DECODING: Final[int]
HTTP_VERSION: Final[int]
INFO_HTTP_VERSION: Final[int]
KEYPASSWD: Final[int]
M_MAXCONNECTS: Final[int]
M_MAX_TOTAL_CONNECTIONS: Final[int]
M_SOCKETFUNCTION: Final[int]
M_TIMERFUNCTION: Final[int]
NOPROXY: Final[int]
NOSIGNAL: Final[int]
OPENSOCKETFUNCTION: Final[int]
PATH_AS_IS: Final[int]
POLL_IN: Final[int]
POLL_INOUT: Final[int]
POLL_OUT: Final[int]
POLL_REMOVE: Final[int]
POST: Final[int]
POSTFIELDS: Final[int]
PRIMARY_IP: Final[int]
PROTOCOLS: Final[int]
RESPONSE_CODE: Final[int]
PROTO_HTTP: Final[int]
PROTO_HTTPS: Final[int]
PROXY: Final[int]
REQUEST_SIZE: Final[int]
REQUEST_TARGET: Final[int]
RESOLVE: Final[int]
SOCKET_BAD: Final[int]
SOCKET_TIMEOUT: Final[int]
SSLCERT: Final[int]
SSLKEY: Final[int]
SSL_VERIFYHOST: Final[int]
SSL_VERIFYPEER: Final[int]
TCP_NODELAY: Final[int]
TIMEOUT_MS: Final[int]
URL: Final[int]
USERAGENT: Final[int]
WRITEFUNCTION: Final[int]

def version_info() -> tuple[int | str | tuple[str, ...] | None, ...]: ...
