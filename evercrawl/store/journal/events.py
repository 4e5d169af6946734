"""The events of the journal: everything that has happened to a crawl, in order.

All state is a fold over these events. Slots and host numbers are assigned in the order of the journal, so the slot of
a new URL is not stored but counted from `first_slot`.
"""

from typing import Final, NamedTuple, TypeAlias

import msgspec

from evercrawl.store.archive.pointer import Pointer
from evercrawl.store.journal.post_events import PostEvent
from evercrawl.store.journal.requisite_events import RequisiteEvent
from evercrawl.store.scheme import Scheme
from evercrawl.types import NO_SLOT

CHANGED: Final = 1  # the content differs from that of the last visit
UNCHANGED: Final = 2  # the content equals that of the last visit: a 304, or the same digest
TLS_BAD: Final = 4  # the certificate did not verify
HAS_LINKS: Final = (
    8  # `targets`, validators and title are this event's own; otherwise those of the last event that has them
)
NOINDEX: Final = 32  # the page asks not to be indexed for search
MEMBER: Final = 64  # from now on, the page is a member of its site and receives virtual cash
JOINS: Final = 128  # it becomes a member by this visit
LEAVES: Final = 256  # it was a member, and no longer is
VALIDATED: Final = 512  # the server sent validators, and has not been found to ignore them
DATE_TRUE: Final = 1024  # its Last-Modified agrees with the result of the visit
DATE_FALSE: Final = 2048  # its Last-Modified contradicts the result of the visit
LISTED_TRUE: Final = 4096  # a sitemap or feed had announced a change, and there was one
LISTED_FALSE: Final = 8192  # a sitemap or feed had announced a change, and there was none
NEAR: Final = 16_384  # its content is nearly that of the page `near`, read before; holds until a visit says otherwise
PARTIAL: Final = 32_768  # not all of its links were admitted, so the same content is read again at the next visit
MISSED: Final = 65_536  # it had changed without an announcement, on a site that announces changes
RENDER_GAINED: Final = 131_072  # it was rendered in a browser, which added text or links
RENDER_VAIN: Final = 262_144  # it was poor without a browser, and rendering did not improve it
RENDER_FAILED: Final = 524_288  # it could not be rendered in a browser
CROWDED: Final = 1_048_576  # links to its own host were not admitted because too many URLs were waiting there
KEEP: Final = 16  # the links of the last event with links still hold (a 304, the same digest)


class Discovery(msgspec.Struct, array_like=True, frozen=True):
    """URLs that became known, and their new hosts.

    Attributes
    ----------
    first_slot, urls, hosts
        URL i has slot `first_slot + i` and host `hosts[i]`.
    source
        Slot of the page with the links; NO_SLOT for seeds.
    depth, hops
        Number of links from a seed, and of consecutive redirects; the same for all of the URLs.
    first_host, new_hosts
        Name i belongs to host `first_host + i`.
    thin
        How much thinner than usual the site's source is at these URLs; see `spread`.
    anchor_marks
        By i, the mark of the searched words in the text of the link to URL i; see `model.focus`.
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
    """Size of a page's visible text in UTF-8 bytes, and of the part that the search index takes in."""

    visible: int
    indexed: int


class Visit(msgspec.Struct, array_like=True, tag="v", frozen=True):
    """One fetch of one page.

    Attributes
    ----------
    slot, host
        Which page.
    at, interval_s, fetch_s
        Start in seconds since the epoch; seconds since the last visit, 0 for the first; duration in seconds.
    outcome, status, flags
        `Outcome`, HTTP status (0 = no answer), and the bits above.
    visits, changes
        Number of visits and of changes so far, including this visit.
    size_bytes, wire_bytes
        Size of the body after and before content decoding.
    digest, simhash, words
        Digest of the content (its first 64 bits), its similarity hash, and 32 bits of the digest of its text; 0 if
        there is none.
    alias
        Slot of the redirect's target, or of the page with the same content; NO_SLOT if neither applies.
    archive
        Position of the response (or revisit) record; None if nothing was archived.
    retry_at
        Time until which the host must be left alone (Retry-After, back-off); 0 if not requested.
    changed_at
        When the content last changed, as far as is known; 0 if the visit brought no new content.
    targets
        Slots of the followed links, including new ones, sorted and delta-coded (`codec.encode_slots`); never the
        page's own slot.
    error
        "" or the class and description of the failure.
    content
        Journal pointer of the visit whose archive record has the body, if this visit has its own links but a revisit
        record; 0 if its own record has the body.
    links
        Journal pointer of the event whose links held before this visit; 0 if there is none, or no cash moved.
    out
        Number of distinct links to other pages, followed or not.
    external
        A bit for each of `targets`, low bits first: whether it counts as a link to another site. Links of pages that
        a program generates on demand never count. Empty if no bit is set.
    transfer
        The cash that moved, packed by `transfers.pack`; empty if none did.
    evidence
        Evidence of all visits so far on the page's rate of change, a packed `evidence.RateEvidence`; empty if this
        visit added none.
    misses
        Consecutive visits that found the page gone or in trouble, including this one.
    near
        Slot of an earlier page with nearly the same text; NO_SLOT if there is none.
    kept
        Numbers that the scheme keeps of the page from now on beside history and mark, packed by
        `transfers.pack_numbers`; empty if there are none, or no cash moved.
    joined
        New history, mark and further numbers of the page that this one leads to, which takes over this page's window
        beside its own; packed like `kept`, empty if nothing is handed on.
    predicted_fresh
        Predicted probability that the copy was fresh before the visit, and whether it was
        (`evidence.pack_predicted`); 0 if there was no copy, or the visit does not tell.
    announcement_evidence
        Expected number of changes since the last visit or until an announcement, and number of detectable ones
        (`evidence.AnnouncementEvidence`); 0 if the site never announced one.
    anchors
        For each of `targets`, the size of its link texts in bytes, up to 255; empty if the crawl's policy does not
        ask for it, or the page was read without texts.
    text
        Sizes of the text of an event with links of its own; None for others, or if they were not counted.
    cut
        Number of further URLs that the page links to, beyond the maximum number of links.
    digest_rest
        The other 64 bits of the digest of the content; 0 if it has none, as in crawls without a secret.
    optouts
        For an event with links of its own, what page and robots.txt ask of those who train models: bits of `OptOut`.
    fresh_by_time
        Probability that the copy was fresh before the visit, by the posterior of the page's rate of change alone,
        packed by `evidence.pack_survival`; 0 if there was none, or the visit does not tell.
    previous
        For an event with links of its own, the journal pointer of the one before, if `links` is not that; else 0.
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
    """URLs that became known without a page: seeds."""

    at: float
    found: Discovery


class Passed(msgspec.Struct, array_like=True, tag="p", frozen=True):
    """Cash that a page passed on without being visited.

    Attributes
    ----------
    slot, at
        Slot of the page; time in seconds since the epoch.
    links
        Journal pointer of the event along whose links it was passed; 0 if there is none.
    transfer, kept, joined
        The cash that moved, the scheme's numbers of the page from now on, and those of the page that it leads to;
        packed as in `Visit`.
    """

    slot: int
    at: float
    links: int
    transfer: bytes
    kept: bytes = b""
    joined: bytes = b""


class Switched(msgspec.Struct, array_like=True, tag="s", frozen=True):
    """The scheme of importance changed: all cash, history and further numbers of pages are reset.

    The virtual page and the clock G start again. The effects of the past under the new scheme follow as events; see
    `crawl.switching`.
    """

    at: float
    scheme: Scheme


class VirtualSpent(msgspec.Struct, array_like=True, tag="c", frozen=True):
    """Cash that the virtual page gave to known pages by how much they are wanted.

    Attributes
    ----------
    at
        Time in seconds since the epoch.
    runs, amounts
        Groups of pages, packed as for `codec.decode_runs`, and the amount that each page of a group received.
    """

    at: float
    runs: tuple[bytes, ...]
    amounts: tuple[float, ...]


class Drawn(msgspec.Struct, array_like=True, tag="d", frozen=True):
    """A page whose copy was sampled for a random probe; the page's next visit shows whether the copy was fresh.

    This event changes no state. See `crawl.probes.random_probes` and `ask.measured`.

    Attributes
    ----------
    slot, at
        Slot of the page; time of sampling in seconds since the epoch.
    by_importance
        Whether it was sampled in proportion to importance; else uniformly.
    fresh
        Predicted probability that the copy was fresh at that time.
    age_s
        Expected age of the copy: 0 while it is fresh, else the time since the first change that it lacks.
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
    """An archive record was lost to a damaged disk; `why` says how that was found.

    Its page counts as never fetched, unless newer content of it exists (`current` is False).
    """

    slot: int
    host: int
    at: float
    archive: Pointer
    why: str
    current: bool = True


class Noted(msgspec.Struct, array_like=True, tag="n", frozen=True):
    """Numbers that a policy stored after planning, before the first visit by that plan.

    Snapshots contain them too, but are minutes apart: after a crash, a policy could not keep to its plan.

    Attributes
    ----------
    at
        Start of the first visit by the plan, in seconds since the epoch.
    notes
        Numbers by name, as in the state; others in the state stay.
    """

    at: float
    notes: dict[str, float]


class Bounded(msgspec.Struct, array_like=True, tag="b", frozen=True):
    """The rules of the scope that hold for known pages from now on.

    Attributes
    ----------
    at
        Time in seconds since the epoch.
    rules
        Each rule as a line of crawl.toml, and the time since which it holds.
    """

    at: float
    rules: dict[str, float]


class Boost(msgspec.Struct, array_like=True, frozen=True):
    """A temporary factor on the worth of pages: their expression, the factor, its beginning and its end.

    Times are in seconds since the epoch; `until` is 0 if there is no end.
    """

    pattern: str
    factor: float
    since: float
    until: float


class Obeyed(msgspec.Struct, array_like=True, tag="o", frozen=True):
    """A person's order with all its effects, in one event: effects that are not in it did not happen.

    Attributes
    ----------
    id, do, by
        Id of the order, its verb, and who gave it. An invalid line gets an id made from its position.
    at
        Time of execution, in seconds since the epoch.
    upto
        Size of the processed part of the file of orders, including this one; -1 if it was read earlier.
    state, result
        "done", "refused", or "begun" if another event ends it; and a sentence for people.
    found
        URLs that the order made known.
    slot
        Slot of the page to be requested, for a check that has begun.
    paused
        Whether requests are paused from now on; None for no change.
    boosts, rules
        All boosts, and all rules of the scope, from now on; None for no change.
    root
        A host that is in scope from now on; "" for none.
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


CashEvent: TypeAlias = Passed | VirtualSpent
"""Events that move cash without a visit."""

Event: TypeAlias = (
    Visit | Found | CashEvent | Lost | Switched | Drawn | Noted | Bounded | Obeyed | PostEvent | RequisiteEvent
)
