"""The nouns that every package shares."""

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
"""Visits in a row that find a page gone, after which a crawl asks for it no more, unless it was there of late."""
RETIRED_S: Final = 30 * 86_400.0
"""How long a page must not have been there for that, if it was ever: an outage may answer "not found" for days."""
_NO_SPANS: Spans = np.empty((0, 3), np.int32)


class OptOut(enum.IntFlag):
    """What a page, or its site, asks of those who train or feed models; recorded, and exported for whoever does.

    Attributes
    ----------
    NOAI, NOIMAGEAI
        `noai` and `noimageai` of X-Robots-Tag or a meta robots element.
    TDM
        `tdm-reservation: 1` of the header or a meta element (TDM Reservation Protocol).
    TRAIN, INPUT, SEARCH
        `ai-train=no`, `ai-input=no` and `search=no` of Content-Signal, and what Content-Usage calls these.
    AGENTS
        robots.txt keeps crawlers that gather texts for models off the whole site.

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
        """The names of those that are set, in lower case."""
        return tuple(str(one.name).lower() for one in OptOut if one in self)


class Outcome(enum.IntEnum):
    """What became of one visit; the name in lower case is the `class` that people read."""

    OK = 1  # the content was read whole (or a 304 said that it is unchanged)
    TRUNCATED = 2  # some of the content was read: a cap or the far end cut it
    ERROR = 3  # no content: network, protocol, 4xx and 5xx other than gone
    REFUSED = 4  # we did not ask: robots.txt, an address inside, a scheme or port we do not speak
    REDIRECT = 5  # the answer names another URL
    DUPLICATE = 6  # the content of a page already known: an alias of it
    GONE = 7  # 404 or 410

    @property
    def label(self) -> str:
        """Return the name as people read it."""
        return self.name.lower()


class Request(msgspec.Struct, frozen=True):
    """One exchange to be made.

    Attributes
    ----------
    url
        Normalised absolute http or https URL, without fragment.
    tag
        Whatever the asker wants back with the answer.
    headers
        Extra request headers, such as validators; name and value.
    max_wire_bytes, max_body_bytes
        Caps on the body as received, and after content decoding.
    deadline_s
        Bound on the whole exchange, from name look-up to the last byte.
    packed
        Whether the asker undoes the codings of a body that came whole, where and when it likes.
    head
        Whether the head of the answer is all that is asked for (HEAD, in place of GET).
    post
        What is posted (POST, in place of GET); None where nothing is.
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

    @property
    def method(self) -> str:
        """The method as HTTP names it."""
        return "POST" if self.post is not None else "HEAD" if self.head else "GET"


class Rendered(msgspec.Struct):
    """What a browser made of a page.

    Attributes
    ----------
    dom
        The document, serialised, in UTF-8.
    requisites
        The exchanges that the browser asked for on the way.
    places
        Where the page's answer is in the archive, and then each of those that has one: segment, offset and length.
    """

    dom: bytes
    requisites: "tuple[Exchange, ...]" = ()
    places: tuple[tuple[int, int, int], ...] = ()


class Exchange(msgspec.Struct):
    """What came of a `Request`: bytes as sent and as received, and nothing judged.

    Attributes
    ----------
    request
        What was asked.
    at, elapsed_s
        Start in seconds since the epoch, and duration.
    status
        HTTP status, 0 when no answer came.
    sent, head, wire
        The request as sent, the final response's status line and header lines, and the body, each exactly as on the
        wire (the body still chunked and content-encoded when the server made it so).
    body
        The body with transfer and content codings undone, at most `max_body_bytes`.
    headers
        Lower-case name -> value; of repeated fields the values joined by ", ".
    ip
        Peer address as text, "" when no connection was made.
    error
        "" or a short class of failure: dns, refused_address, connect, tls, timeout, reset, protocol, too_large ...;
        internal where our own code failed, `SILENT` where we hung up.
    detail
        A sentence about the failure.
    truncated
        The body ended early: a cap, the deadline or the far end cut it.
    tls_ok
        False where a certificate did not verify; None where TLS was not used.
    packed
        The codings of `wire` have yet to be undone, and `body` to be set, by `fetch.answer.unwrap`.
    rendered
        What a browser made of it, where one did: that is what is read, and the bytes are what is archived too.
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
"""Error of an exchange that we ended because too many far ends said nothing; its page is asked for again later."""


class Silence(NamedTuple):
    """An exchange under way of which next to nothing came for a while.

    Attributes
    ----------
    request, ip
        What was asked for, and of which address; "" where that is not known.
    since
        The last instant at which enough came, in seconds since the epoch.
    """

    request: Request
    ip: str
    since: float


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a page: where it goes and how the page speaks of it."""

    target: str
    rel: str
    anchor: str


@dataclass(slots=True)
class Document:
    """What parsing one body taught us.

    Attributes
    ----------
    title, language
        Title (white space folded), BCP 47 tag or "".
    utf8
        Visible text in UTF-8; `text` is the same, decoded.
    targets
        Distinct normalised http(s) URLs that the page links to and lets be followed, in order of first appearance.
    unpaid, withheld
        Those of `targets` that the page does not vouch for (ugc, sponsored); how many more it does not let be followed.
    cut
        How many further URLs it links to that are not among `targets`, as these are too many.
    canonical, refresh
        Target of rel=canonical, of a meta refresh; "" where there is none.
    feeds, forms
        Where the page says that its feeds are, normalised; its search forms (`parse.forms.search_forms`), where it
        links to what could be results of one.
    anchors
        Which words link to which target: where they start and end in `utf8`, and an index into `targets`; shape (k, 3).
        Of links to other pages only, and of those the page vouches for.
    simhash, words, text_bytes
        64-bit similarity hash of the text, 0 for an empty one; 32 bits of the text's digest; its bytes in UTF-8, also
        where `utf8` was not wanted.
    noindex, nofollow
        What a meta robots element asks for.
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
        """Return the visible text; it is decoded each time, for most pages never."""
        return self.utf8.decode("utf-8", "replace")
