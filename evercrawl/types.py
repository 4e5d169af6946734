"""Types that every package shares: requests, exchanges, links, documents and outcomes."""

import enum
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

Flags: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Slots: TypeAlias = NDArray[np.uint32]
Keys: TypeAlias = NDArray[np.uint64]
Spans: TypeAlias = NDArray[np.int32]

NO_SLOT = 0xFFFFFFFF
RETIRED: Final = 6
"""Consecutive visits that find a page gone before a crawl retires it, unless it was there recently (`RETIRED_S`)."""
RETIRED_S: Final = 30 * 86_400.0
"""Time since a page was last there before it is retired, if it ever was: an outage may answer "not found" for days."""
_NO_SPANS: Spans = np.empty((0, 3), np.int32)


class OptOut(enum.IntFlag):
    """Opt-outs from model training and input that a page or its site declares; recorded and exported, not enforced.

    Attributes
    ----------
    NOAI, NOIMAGEAI
        `noai` and `noimageai` of X-Robots-Tag or a meta robots element.
    TDM
        `tdm-reservation: 1` of the header or a meta element (TDM Reservation Protocol).
    TRAIN, INPUT, SEARCH
        `ai-train=no`, `ai-input=no` and `search=no` of Content-Signal, and their equivalents in Content-Usage.
    AGENTS
        robots.txt excludes crawlers that collect text for models from the whole site.

    Examples
    --------
    >>> (OptOut.NOAI | OptOut.AGENTS).labels
    ('noai', 'agents')
    """

    NOAI = 1
    NOIMAGEAI = 2
    TDM = 4
    TRAIN = 8
    INPUT = 16
    SEARCH = 32
    AGENTS = 64

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the flags that are set, in lower case."""
        return tuple(str(one.name).lower() for one in OptOut if one in self)


class Outcome(enum.IntEnum):
    """The outcome of one visit; tables and reports print the name in lower case, as `class`."""

    OK = 1  # the content was read completely (or a 304 confirmed that it is unchanged)
    TRUNCATED = 2  # part of the content was read: a size cap or the server cut it off
    ERROR = 3  # no content: network or protocol error, or a 4xx or 5xx status other than 404 and 410
    REFUSED = 4  # no request was made: robots.txt, an internal address, an unsupported scheme or port
    REDIRECT = 5  # the response redirects to another URL
    DUPLICATE = 6  # the content of a page already known: this URL is an alias of it
    GONE = 7  # 404 or 410

    @property
    def label(self) -> str:
        """Return the name in lower case."""
        return self.name.lower()


class Request(msgspec.Struct, frozen=True):
    """One HTTP request to make.

    Attributes
    ----------
    url
        Normalised absolute http or https URL, without fragment.
    tag
        Any object; the caller gets it back with the response.
    headers
        Extra request headers, such as validators; name and value.
    max_wire_bytes, max_body_bytes
        Caps on the size of the body as received, and after content decoding.
    deadline_s
        Time limit of the whole exchange, from name look-up to the last byte.
    packed
        Whether the caller decodes a body that was received completely, where and when it likes.
    head
        Whether only the head of the response is requested (HEAD instead of GET).
    post
        The body to post (POST instead of GET); None for other requests.
    initiator
        The URL of the page, script or style that has this requested; "" if the crawl itself does.
    """

    url: str
    tag: object = None
    headers: tuple[tuple[str, str], ...] = ()
    max_wire_bytes: int = 10 << 20
    max_body_bytes: int = 10 << 20
    deadline_s: float = 30.0
    packed: bool = False
    head: bool = False
    post: bytes | None = None
    initiator: str = ""

    @property
    def method(self) -> str:
        """The HTTP method."""
        return "POST" if self.post is not None else "HEAD" if self.head else "GET"


class Rendered(msgspec.Struct):
    """A page as a browser rendered it.

    Attributes
    ----------
    dom
        The serialised DOM, in UTF-8.
    requisites
        The exchanges that the browser made to load the page.
    places
        Positions in the archive of the page's response, then of each requisite that was archived: segment, offset and
        length.
    """

    dom: bytes
    requisites: "tuple[Exchange, ...]" = ()
    places: tuple[tuple[int, int, int], ...] = ()


class Exchange(msgspec.Struct):
    """The result of a `Request`: the bytes as sent and as received, without interpretation.

    Attributes
    ----------
    request
        The request.
    at, elapsed_s
        Start in seconds since the epoch, and duration in seconds.
    status
        HTTP status; 0 if there was no response.
    sent, head, wire
        The request as sent, the final response's status line and header lines, and the body, each exactly as on the
        wire (the body still chunked and content-encoded if the server sent it so).
    body
        The body after transfer and content decoding, at most `max_body_bytes` long.
    headers
        Lower-case name -> value; the values of repeated fields are joined by ", ".
    ip
        Peer address as text; "" if no connection was made.
    error
        "" or a short class of failure: dns, refused_address, connect, tls, timeout, reset, protocol, too_large ...;
        `internal` if evercrawl's own code failed, `SILENT` if evercrawl closed the connection.
    detail
        A sentence about the failure.
    truncated
        Whether the body ended early: a cap, the deadline or the server cut it off.
    tls_ok
        False if a certificate did not verify; None if TLS was not used.
    packed
        Whether `wire` is still encoded and `body` not yet set; `fetch.answer.unwrap` does both.
    rendered
        The page as a browser rendered it, if one did: the DOM is parsed, and the received bytes are archived too.
    """

    request: Request
    at: float
    elapsed_s: float = 0.0
    status: int = 0
    sent: bytes = b""
    head: bytes = b""
    wire: bytes = b""
    body: bytes = b""
    headers: dict[str, str] = {}
    ip: str = ""
    error: str = ""
    detail: str = ""
    truncated: bool = False
    tls_ok: bool | None = None
    http_version: str = "1.1"
    packed: bool = False
    rendered: Rendered | None = None


SILENT: Final = "silent"
"""Error of an exchange that evercrawl ended because too many servers were silent; its page is requested again later."""


class Silence(NamedTuple):
    """An exchange in flight that has received almost nothing for a while.

    Attributes
    ----------
    request, ip
        The request, and the address of the server; "" if that is not known.
    since
        The last instant at which enough data had been received, in seconds since the epoch.
    """

    request: Request
    ip: str
    since: float


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a page: its target, its `rel` attribute and its anchor text."""

    target: str
    rel: str
    anchor: str


@dataclass(slots=True)
class Document:
    """The result of parsing one body.

    Attributes
    ----------
    title, language
        Title with white space collapsed; BCP 47 tag or "".
    utf8
        Visible text in UTF-8; `text` is the same, decoded.
    targets
        Distinct normalised http(s) URLs of the links that may be followed, in order of first appearance.
    unpaid, withheld
        The `targets` of links marked ugc or sponsored; the number of further links that may not be followed.
    cut
        Number of further linked URLs that were left out of `targets` because there are too many.
    canonical, refresh
        Target of rel=canonical; target of a meta refresh; "" if there is none.
    feeds, forms
        Normalised URLs of the feeds that the page declares; its search forms (`parse.forms.search_forms`), if it
        links to pages that could be results of one.
    anchors
        Anchor texts: start and end in `utf8`, and an index into `targets`; shape (k, 3). Only links to other pages
        that are not marked ugc or sponsored.
    simhash, words, text_bytes
        64-bit similarity hash of the text, 0 for an empty text; 32 bits of the text's digest; length of the text in
        UTF-8, set even if `utf8` was not requested.
    noindex, nofollow
        Directives of meta robots elements.
    optouts
        Bits of `OptOut` that its meta elements set.
    encoding
        The encoding that was used, by its WHATWG name.
    """

    title: str = ""
    language: str = ""
    targets: list[str] = field(default_factory=list[str])
    unpaid: list[str] = field(default_factory=list[str])
    withheld: int = 0
    cut: int = 0
    canonical: str = ""
    refresh: str = ""
    feeds: list[str] = field(default_factory=list[str])
    forms: list[str] = field(default_factory=list[str])
    utf8: bytes = b""
    anchors: Spans = field(default_factory=lambda: _NO_SPANS, compare=False)
    simhash: int = 0
    words: int = 0
    text_bytes: int = 0
    noindex: bool = False
    nofollow: bool = False
    optouts: int = 0
    encoding: str = "utf-8"

    @property
    def text(self) -> str:
        """Return the visible text, decoded at each call; for most pages it is never needed."""
        return self.utf8.decode("utf-8", "replace")
