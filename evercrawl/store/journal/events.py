"""What the journal remembers: everything that ever happened to a crawl, in order.

All state is a fold over these. Slots and host numbers are given out in the order of the journal, so a new URL's slot is
not stored but counted from `first_slot`.
"""

from typing import Final, NamedTuple, TypeAlias

import msgspec

from evercrawl.store.archive.pointer import Pointer
from evercrawl.store.scheme import Scheme
from evercrawl.types import NO_SLOT

CHANGED: Final = 1  # the content differs from the last visit's
UNCHANGED: Final = 2  # the content is the last visit's: a 304, or the same digest
TLS_BAD: Final = 4  # the certificate did not verify
HAS_LINKS: Final = (
    8  # `targets`, validators and title are this event's own; otherwise those of the last event that has them
)
NOINDEX: Final = 32  # the page asks not to be found by searching
MEMBER: Final = 64  # from now on, its site's virtual cash goes to this page too
JOINS: Final = 128  # and it did not before
LEAVES: Final = 256  # it did before, and does not any more
VALIDATED: Final = 512  # the server sent validators, and has not been seen to ignore them
DATE_TRUE: Final = 1024  # its Last-Modified agrees with what the visit saw
DATE_FALSE: Final = 2048  # its Last-Modified contradicts it
LISTED_TRUE: Final = 4096  # a sitemap or feed had said that it changed, and it had
LISTED_FALSE: Final = 8192  # a sitemap or feed had said that it changed, and it had not
NEAR: Final = 16_384  # its content is nearly that of the page `near`, read before; until a visit says otherwise
PARTIAL: Final = 32_768  # not all of its links could be let in, so the same content is read anew next time
MISSED: Final = 65_536  # it had changed and nothing had been said of that, on a site that does announce changes
RENDER_GAINED: Final = 131_072  # it was read in a browser, which brought text or links
RENDER_VAIN: Final = 262_144  # it was poor without a browser, and no better in it
RENDER_FAILED: Final = 524_288  # it could not be read in a browser
CROWDED: Final = 1_048_576  # links to its own host were not let in because too many URLs waited there
KEEP: Final = 16  # the links of the last event that has them still hold (a 304, the same digest)


class Discovery(msgspec.Struct, array_like=True, frozen=True):
    """URLs that became known, and the hosts that came with them.

    Attributes
    ----------
    first_slot, urls, hosts
        URL i has slot `first_slot + i` and lives on host `hosts[i]`.
    source
        Slot of the page that named them; NO_SLOT for seeds.
    depth, hops
        Links followed from a seed, and redirects followed in a row to get here; the same for all of them.
    first_host, new_hosts
        Name i is that of host `first_host + i`.
    thin
        How much thinner than usual the source of their site is at them; see `spread`.
    anchor_marks
        Mark of the words that were looked for and stood at the link to URL i, by i; see `model.focus`.
    """

    first_slot: int
    urls: list[str]
    hosts: list[int]
    first_host: int
    new_hosts: list[str]
    source: int = NO_SLOT
    depth: int = 0
    hops: int = 0
    thin: int = 0
    anchor_marks: dict[int, int] = {}


class TextBytes(NamedTuple):
    """How many bytes in UTF-8 the visible text of a page has, and what the search index takes in of it."""

    visible: int
    indexed: int


class Visit(msgspec.Struct, array_like=True, tag="v", frozen=True):
    """One fetch of one page.

    Attributes
    ----------
    slot, host
        Which page.
    at, interval_s, fetch_s
        Start in seconds since the epoch; seconds since the last visit, 0 for the first; duration.
    outcome, status, flags
        `Outcome`, HTTP status (0 = no answer), and the bits above.
    visits, changes
        How many there have been, this one included.
    size_bytes, wire_bytes
        Body after and before content decoding.
    digest, simhash, words
        Digest of the content, its first 64 bits, and its similarity hash; 32 bits of the digest of its text; 0 where
        there is none.
    alias
        Slot of the redirect's target, or of the page whose content this is; NO_SLOT where it is neither.
    archive
        Where the response (or revisit) record is; None where nothing was archived.
    retry_at
        The host is to be left alone until then (Retry-After, back-off); 0 = no wish.
    changed_at
        When the content last changed, as far as is known; 0 where the visit brought no new content.
    targets
        Slots of the followed links, new ones included, sorted and delta-coded (`codec.encode_slots`); never the page's
        own.
    error
        "" or the failure's class and sentence.
    content
        Journal pointer of the visit whose archive record has the body, for one with links of its own whose record is a
        revisit; 0 where the body is in its own.
    links
        Journal pointer of the event whose links held before this visit; 0 where there is none, or no cash moved.
    out
        Distinct links to other pages, whether they are followed or not.
    external
        A bit for each of `targets`, the low bits first: whether it is on another site and counts as such, which from a
        page that a program makes on demand none does; empty where none is.
    transfer
        The cash that moved, packed by `transfers.pack`; empty where none did.
    evidence
        What the visits so far say about the page's rate of change, a packed `evidence.RateEvidence`; empty where
        this visit said nothing new.
    misses
        Visits in a row that found the page gone or in trouble, this one included.
    near
        Slot of the page that said nearly the same before this one did; NO_SLOT where none did.
    kept
        What the scheme keeps of the page from now on beside history and mark, packed by `transfers.pack_numbers`; empty
        where that is nothing, or no cash moved.
    joined
        History, mark and what else is kept from now on of the page that this one leads to, which has this one's window
        beside its own since this visit; packed like `kept`, empty where nothing is handed on.
    predicted_fresh
        How likely the copy was to be fresh before the visit, and whether it was (`evidence.pack_predicted`); 0 where
        there was no copy, or the visit does not tell.
    announcement_evidence
        How many changes were to be expected since the visit before, or until one was announced, and how many there were
        to be found (`evidence.AnnouncementEvidence`); 0 where the site never announced one.
    anchors
        Of each of `targets`, how many bytes the words of the links to it have, up to 255; empty where the crawl's
        policy does not ask, or the page was read without its words.
    text
        Of the content of an event with links of its own. None elsewhere, and where nobody counted them.
    cut
        How many further URLs the page links to that are not among its links, as these are too many.
    digest_rest
        The other 64 bits of the digest of the content; 0 where it has no more, as in crawls without a secret.
    optouts
        Of an event with links of its own, what page and robots.txt ask of those who train models: bits of `OptOut`.
    fresh_by_time
        How likely the copy was to be fresh before the visit by the belief of the page's rate of change alone, packed by
        `evidence.pack_survival`; 0 where there was none, or the visit does not tell.
    previous
        Of an event with links of its own, the journal pointer of the one before, where `links` is not that; else 0.
    """

    slot: int
    host: int
    at: float
    outcome: int
    status: int
    flags: int = 0
    visits: int = 0
    changes: int = 0
    interval_s: float = 0.0
    fetch_s: float = 0.0
    size_bytes: int = 0
    wire_bytes: int = 0
    digest: int = 0
    simhash: int = 0
    alias: int = NO_SLOT
    archive: Pointer | None = None
    retry_at: float = 0.0
    changed_at: float = 0.0
    targets: bytes = b""
    etag: str = ""
    last_modified: str = ""
    mime: str = ""
    title: str = ""
    language: str = ""
    error: str = ""
    found: Discovery | None = None
    content: int = 0
    links: int = 0
    out: int = 0
    external: bytes = b""
    transfer: bytes = b""
    evidence: bytes = b""
    misses: int = 0
    words: int = 0
    near: int = NO_SLOT
    kept: bytes = b""
    joined: bytes = b""
    predicted_fresh: int = 0
    announcement_evidence: int = 0
    anchors: bytes = b""
    text: TextBytes | None = None
    cut: int = 0
    digest_rest: int = 0
    previous: int = 0
    optouts: int = 0
    fresh_by_time: int = 0


class Found(msgspec.Struct, array_like=True, tag="f", frozen=True):
    """URLs that no page told us about: seeds."""

    at: float
    found: Discovery


class Passed(msgspec.Struct, array_like=True, tag="p", frozen=True):
    """Cash that a page passed on without being visited.

    Attributes
    ----------
    slot, at
        Which page; seconds since the epoch.
    links
        Journal pointer of the event whose links it went along; 0 where there is none.
    transfer, kept, joined
        The cash that moved, what the scheme keeps of the page from now on, and of the one it leads to; packed as in a
        visit.
    """

    slot: int
    at: float
    links: int
    transfer: bytes
    kept: bytes = b""
    joined: bytes = b""


class Switched(msgspec.Struct, array_like=True, tag="s", frozen=True):
    """Importance is learned otherwise from now on: all cash, history and what else was kept of pages is forgotten.

    The virtual page begins anew, and so does the clock G. What the past comes to by the new scheme follows, event by
    event; see `crawl.switching`.
    """

    at: float
    scheme: Scheme


class VirtualSpent(msgspec.Struct, array_like=True, tag="c", frozen=True):
    """Cash that the virtual page gave to known pages, where it gives by how much they are wanted.

    Attributes
    ----------
    at
        When, in seconds since the epoch.
    runs, amounts
        Groups of pages, packed as `codec.decode_runs` reads them, and what each page of a group got.
    """

    at: float
    runs: tuple[bytes, ...]
    amounts: tuple[float, ...]


class Drawn(msgspec.Struct, array_like=True, tag="d", frozen=True):
    """A page whose copy was drawn at random, to see whether it is fresh; the next visit of the page tells.

    It changes nothing that is known. See `crawl.probes.random_probes` and `ask.measured`.

    Attributes
    ----------
    slot, at
        Which page; when it was drawn, in seconds since the epoch.
    by_importance
        Whether it was drawn with a probability in proportion to importance; else every copy was as likely.
    fresh
        How likely it was said to be fresh at that instant.
    age_s
        How old it was expected to be: 0 as long as it is fresh, else since the first change that it misses.
    alone_s
        Time since the last visit that saw the content.
    """

    slot: int
    at: float
    by_importance: bool
    fresh: float
    age_s: float
    alone_s: float


class Lost(msgspec.Struct, array_like=True, tag="l", frozen=True):
    """An archive record went with a damaged disk; `why` says how it was found.

    Its page counts as never fetched, unless newer content of it is there (`current` is False).
    """

    slot: int
    host: int
    at: float
    archive: Pointer
    why: str
    current: bool = True


class Noted(msgspec.Struct, array_like=True, tag="n", frozen=True):
    """What a policy noted when it had planned, which visits are made by from now on; it comes before the first of them.

    Snapshots keep notes too, and are minutes apart: a policy that has to keep to its plan could not, after a crash.

    Attributes
    ----------
    at
        When the first visit by the plan began, in seconds since the epoch.
    notes
        Numbers by name, as in the state; others that are there stay.
    """

    at: float
    notes: dict[str, float]


class Bounded(msgspec.Struct, array_like=True, tag="b", frozen=True):
    """Which rules of the scope hold for known pages from now on.

    Attributes
    ----------
    at
        When that was noted, in seconds since the epoch.
    rules
        Each as a line of crawl.toml, and since when it holds.
    """

    at: float
    rules: dict[str, float]


class Boost(msgspec.Struct, array_like=True, frozen=True):
    """Pages that count so many times as much for a while: an expression, the factor, since when and until when.

    Instants are seconds since the epoch; `until` 0 stands for no end.
    """

    pattern: str
    factor: float
    since: float
    until: float


class Obeyed(msgspec.Struct, array_like=True, tag="o", frozen=True):
    """A person's order, and all that it changes at once: what is not in this event was not done.

    Attributes
    ----------
    id, do, by
        Which order, what was to be done, and who gave it. A line that is no order has an id made of its place.
    at
        When it was obeyed, in seconds since the epoch.
    upto
        How many bytes of the file of orders are obeyed with this one; -1 where it was read before.
    state, result
        "done", "refused", or "begun" where its end is another event; and a sentence for people.
    found
        URLs that it made known.
    slot
        Of the page that is to be requested, for a check that is begun.
    paused
        Whether nothing is requested from now on; None where it says nothing of that.
    boosts, rules
        All boosts, and all rules of the scope, from now on; None where they stay.
    root
        A host that belongs to the scope from now on; "" for none.
    """

    id: str
    at: float
    upto: int
    do: str
    state: str
    result: str
    by: str = ""
    found: Discovery | None = None
    slot: int = NO_SLOT
    paused: bool | None = None
    boosts: list[Boost] | None = None
    rules: dict[str, float] | None = None
    root: str = ""


class LetterSent(msgspec.Struct, array_like=True, tag="m", frozen=True):
    """A letter to another partition of the crawl: cash for pages that it owns, and URLs that were found here.

    Attributes
    ----------
    at
        When it was written, in seconds since the epoch.
    to, number
        To which partition, and which letter to it, from 1.
    slots, amounts
        The cells that the cash leaves (`codec.encode_slots`), and how much each, f64.
    first, upto
        Among the slots from `first` to before `upto` are the URLs that it names for the first time.
    """

    at: float
    to: int
    number: int
    slots: bytes
    amounts: bytes
    first: int
    upto: int


class LetterReceived(msgspec.Struct, array_like=True, tag="r", frozen=True):
    """A letter of another partition, applied.

    Attributes
    ----------
    at
        When, in seconds since the epoch.
    sender, incarnation, number
        Of which partition, in which of its lives, and which letter.
    slots, amounts
        The cells that get cash (`codec.encode_slots`), and how much each, f64.
    keys, left
        Keys of URLs that are not known here, u64, and the cash that waits for each, f64.
    """

    at: float
    sender: int
    incarnation: int
    number: int
    slots: bytes = b""
    amounts: bytes = b""
    keys: bytes = b""
    left: bytes = b""


class LetterSettled(msgspec.Struct, array_like=True, tag="t", frozen=True):
    """Another partition has applied all letters up to this number, for good."""

    at: float
    to: int
    upto: int


class RequisitesNeeded(msgspec.Struct, array_like=True, tag="q", frozen=True):
    """All that a page, or a style of one, needs to be shown as a browser shows it.

    Attributes
    ----------
    at
        When that was seen, in seconds since the epoch; what is stale then is to be fetched again.
    slot, of
        Which page; or, where that is NO_SLOT, which requisite.
    first, urls
        What is needed for the first time by anything: requisite i has number `first + i`; "" where it was forgotten.
    known
        Numbers of the others (`codec.encode_slots`).
    """

    at: float
    slot: int
    of: int
    first: int
    urls: list[str]
    known: bytes = b""


LOST_REQUISITE: Final = "lost"
"""The failure of a requisite whose record in the archive is gone."""


class RequisiteFetched(msgspec.Struct, array_like=True, tag="u", frozen=True):
    """What came of asking for something that pages need.

    Attributes
    ----------
    number, at
        Which requisite; when it was asked for, in seconds since the epoch.
    status, error
        HTTP status, 0 where there was no answer; "" or the failure's class and sentence.
    archive
        Where its record is; None where nothing was archived.
    unchanged
        Whether the content is that of the record before.
    stale_at
        Until when it is not asked for again, whatever needs it.
    retry_at
        When it is tried again, though nothing else needs it; 0 where it is not.
    etag, last_modified, mime, payload
        Validators, media type, and the digest of the body as the archive states it.
    wire_bytes
        Received.
    """

    number: int
    at: float
    status: int
    error: str = ""
    archive: Pointer | None = None
    unchanged: bool = False
    stale_at: float = 0.0
    retry_at: float = 0.0
    etag: str = ""
    last_modified: str = ""
    mime: str = ""
    payload: str = ""
    wire_bytes: int = 0


CashEvent: TypeAlias = Passed | VirtualSpent
"""Cash that moves without a visit."""

PostEvent: TypeAlias = LetterSent | LetterReceived | LetterSettled
"""What passes between partitions of one crawl."""

RequisiteEvent: TypeAlias = RequisitesNeeded | RequisiteFetched
"""What is known of requisites of pages."""

Event: TypeAlias = (
    Visit | Found | CashEvent | Lost | Switched | Drawn | Noted | Bounded | Obeyed | PostEvent | RequisiteEvent
)
