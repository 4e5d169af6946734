"""The event of a visit, made from the reading and from what was known before."""

from collections.abc import Sequence
from typing import Final

from evercrawl.crawl.learn.cash import Cashier
from evercrawl.crawl.learn.changes import Changes
from evercrawl.model.stored.classify import Knowledge, Verdict, classify, may_be_copy
from evercrawl.model.stored.reading import PERMANENT, Reading
from evercrawl.model.stored.remembered import Leads, Remembered
from evercrawl.model.web.claims import keeps_place, stays_original
from evercrawl.model.web.link_bytes import link_bytes
from evercrawl.model.web.near import NearDuplicates
from evercrawl.model.web.outlinks import Outlinks, outlinks
from evercrawl.store.archive.pointer import Pointer
from evercrawl.store.journal.events import CHANGED, HAS_LINKS, KEEP, NEAR, UNCHANGED, TextBytes, Visit
from evercrawl.store.records.evidence import pack_predicted
from evercrawl.store.state import State
from evercrawl.types import NO_SLOT, Exchange, OptOut, Outcome, Slots

MOST_ALIASES: Final = 50  # a longer chain of aliases counts as a ring


class VisitEvents:
    """Makes the events of visits.

    Parameters
    ----------
    state
        The state, with the originals of contents and the aliases of pages.
    cashier, changes
        Compute the cash that a visit moves, and what the visit teaches about change.
    near
        The index of near-duplicates.
    words
        Whether events have the lengths of anchor texts.
    """

    def __init__(self, state: State, cashier: Cashier, changes: Changes, near: NearDuplicates, *, words: bool) -> None:
        self._state = state
        self._cashier = cashier
        self._changes = changes
        self._near = near
        self._words = words

    def of(self, reading: Reading, pointer: Pointer | None, leads: Leads) -> Remembered:
        """Return a visit that is ready to be remembered.

        Parameters
        ----------
        reading, pointer
            The reading of the answer, and its position in the archive.
        leads
            Where the visit leads.
        """
        exchange, before, old, page = reading.exchange, reading.before, reading.before.held, reading.page
        knowledge, slots = self._known_of(reading, leads), leads.slots
        verdict = classify(reading, knowledge)
        flags, title, mime, language = verdict.flags, page.title, reading.mime, page.language
        etag, last_modified = reading.etag, reading.last_modified
        alias = self._alias(reading, verdict, knowledge, slots)
        links, content = self._links(reading, slots), 0
        near = self._near.original(reading, verdict, alias)
        optouts = page.optouts | reading.optouts
        if flags & KEEP and old is not None:
            if exchange.status == 304:
                etag, last_modified = old.etag, old.last_modified
            optouts = (old.optouts & ~_OF_ROBOTS) | reading.optouts
            now = etag, last_modified, alias, near, optouts
            if (old.etag, old.last_modified, old.alias, old.near, old.optouts) != now:
                flags = flags & ~KEEP | HAS_LINKS  # same content, new validators: the next request needs them
                links, title, mime = Outlinks(old.targets, old.external, old.out), old.title, old.mime
                language, content = old.language, old.content or before.event
        elif flags & UNCHANGED and old is not None:  # parsed again for its links
            content = old.content or before.event
        own = flags & HAS_LINKS
        flags |= NEAR if near != NO_SLOT else 0
        settled = self._cashier.settle(reading, verdict.outcome, flags, alias, links)
        change = self._changes.learn(reading, verdict.outcome, flags)
        event = Visit(
            slot=reading.slot,
            host=reading.host.number,
            at=exchange.at,
            outcome=verdict.outcome,
            status=exchange.status,
            flags=flags | settled.flags | change.flags | reading.rendering,
            visits=before.visits + 1,
            changes=before.changes + (1 if flags & CHANGED else 0),
            interval_s=exchange.at - before.visited_at if before.visited_at is not None else 0.0,
            fetch_s=round(exchange.elapsed_s, 6),
            size_bytes=reading.size_bytes,
            wire_bytes=_wire_bytes(exchange),
            digest=reading.digest if own else reading.digest or before.digest,
            simhash=page.simhash,
            alias=alias if own else NO_SLOT,
            archive=pointer,
            retry_at=reading.host.away_until if reading.host.away_until > exchange.at else 0.0,
            changed_at=change.changed_at,
            targets=links.targets if own else b"",
            etag=etag if own else "",
            last_modified=last_modified if own else "",
            mime=mime,
            title=title,
            language=language,
            error=verdict.error,
            found=leads.found,
            content=content,
            links=settled.links,
            out=links.out if own else 0,
            external=links.external if own else b"",
            transfer=settled.transfer,
            evidence=change.evidence,
            misses=_misses(before.misses, verdict.outcome),
            words=page.words,
            near=near,
            kept=settled.kept,
            joined=settled.joined,
            predicted_fresh=pack_predicted(reading.said, change.fresh),
            announcement_evidence=change.announcement_evidence,
            anchors=self._anchors(reading, verdict, slots, links) if own else b"",
            text=text_of(reading, verdict) if own else None,
            cut=cut_of(reading, verdict) if own else 0,
            digest_rest=reading.digest_rest if own or reading.digest else before.digest_rest,
            previous=before.event if own and not settled.links else 0,
            optouts=optouts if own else 0,
            fresh_by_time=change.fresh_by_time,
        )
        return Remembered(reading, event, leads, self._near.beside)

    def _anchors(self, reading: Reading, verdict: Verdict, slots: Slots, links: Outlinks) -> bytes:
        """Return the lengths of the anchor texts of each target, in bytes, encoded; empty without `words`."""
        if not self._words:
            return b""
        old = reading.before.held
        if verdict.flags & KEEP and old is not None:
            return old.anchors
        return b"" if reading.content is None else link_bytes(reading.content, slots, links.targets)

    def _known_of(self, reading: Reading, leads: Leads) -> Knowledge:
        """Return what is known besides the answer, to classify a visit."""
        original, by_chance = NO_SLOT, False
        if may_be_copy(reading):
            original = self._state.original(reading.digest, reading.digest_rest)
            if stays_original(self._state, reading.slot, reading.before, original):
                original = NO_SLOT
            if original != reading.slot and self._leads_back(original, reading.slot):
                original = NO_SLOT  # the earlier page names this one as canonical
            if original not in (NO_SLOT, reading.slot):
                by_chance = self._near.by_chance(original, reading.host.number, reading.size_bytes)
        circle = bool(reading.redirect) and "set-cookie" in reading.exchange.headers and self._circle(reading, leads)
        return Knowledge(original, by_chance, leads.most_hops, leads.partial, leads.crowded, circle)

    def _circle(self, reading: Reading, leads: Leads) -> bool:
        """Return whether a redirecting page led here, in one or several steps, and this page redirects back to it."""
        target = int(leads.slots[0])
        index = self._state.record_of(target) if target != NO_SLOT else None
        if index is None or int(self._state.records.rows["outcome"][index]) != Outcome.REDIRECT:
            return False
        known = self._state.known
        return int(known.row(reading.slot)["hops"]) > int(known.row(target)["hops"])

    def _alias(self, reading: Reading, verdict: Verdict, knowledge: Knowledge, slots: Slots) -> int:
        """Return the page of which this one is an alias: its redirect target, original or canonical; else NO_SLOT."""
        alias = NO_SLOT
        if verdict.outcome == Outcome.DUPLICATE:
            alias = knowledge.original
        elif verdict.outcome == Outcome.REDIRECT and reading.exchange.status in PERMANENT:
            alias = int(slots[0])
        elif verdict.flags & KEEP and reading.before.held is not None:
            held = reading.before.held
            alias = held.alias if held.outcome != Outcome.DUPLICATE else NO_SLOT
        elif reading.page.canonical:
            alias = int(slots[-1])
        if verdict.outcome != Outcome.DUPLICATE and not verdict.flags & KEEP and self._keeps_place(reading, alias):
            return NO_SLOT
        if alias == NO_SLOT or self._is_elsewhere(alias) or self._leads_back(alias, reading.slot):
            return NO_SLOT
        return alias

    def _is_elsewhere(self, slot: int) -> bool:
        """Return whether another partition owns a page; its cash is taxed like a link's, as a ring would go unseen."""
        post = self._state.post
        return post is not None and not post.owns(int(self._state.known.row(slot)["host"]))

    def _keeps_place(self, reading: Reading, alias: int) -> bool:
        """Return whether a page remains a page of its own although it names another page as its target."""
        return keeps_place(self._state, reading.slot, reading.host.number, reading.before, alias)

    def _leads_back(self, alias: int, slot: int) -> bool:
        """Return whether an alias would close a ring, in which cash would circulate untaxed forever."""
        for _ in range(MOST_ALIASES):
            if alias in (slot, NO_SLOT):
                return alias == slot
            index = self._state.record_of(alias)
            index = self._state.lost.get(alias) if index is None else index
            if index is None:
                return False
            alias = int(self._state.records.rows["alias"][index])
        return True

    def _links(self, reading: Reading, slots: Slots) -> Outlinks:
        """Return the links of a reading; a canonical URL does not count as a link."""
        page = reading.page
        targets: Sequence[str] = page.targets
        away: Sequence[int] | None = page.away
        if reading.redirect:
            targets, away = [reading.redirect], None
        slots, withheld = slots[: len(targets)], page.withheld
        if page.unpaid:  # these links are followed but get no cash
            unpaid = set(page.unpaid)
            paid = [i for i, target in enumerate(targets) if target not in unpaid]
            withheld += len(targets) - len(paid)
            targets, slots, away = [targets[i] for i in paid], slots[paid], None
        url, site_number = reading.exchange.request.url, self._state.site_number
        links = outlinks(url, reading.slot, targets, slots, withheld, away, site_number)
        return links._replace(external=_ONE) if reading.redirect and links.targets else links  # no menu link


def text_of(reading: Reading, verdict: Verdict) -> TextBytes | None:
    """Return the bytes of text that the content has, and those of them in the index; 0 for a page without content."""
    old, content = reading.before.held, reading.content
    if verdict.flags & KEEP and old is not None:
        return old.text
    return TextBytes(0, 0) if content is None else TextBytes(content.text_bytes, content.index_bytes)


def cut_of(reading: Reading, verdict: Verdict) -> int:
    """Return the number of links left out because the content has too many."""
    old = reading.before.held
    return old.cut if verdict.flags & KEEP and old is not None else reading.page.cut


def _wire_bytes(exchange: Exchange) -> int:
    """Return the bytes of bodies received for a visit, including those that a browser requested."""
    rendered = exchange.rendered
    return len(exchange.wire) + (sum(len(each.wire) for each in rendered.requisites) if rendered is not None else 0)


def _misses(before: int, outcome: Outcome) -> int:
    """Return the number of consecutive visits that found the page gone or failed; `before` is the number before."""
    if outcome == Outcome.REFUSED:
        return before
    return before + 1 if outcome in (Outcome.GONE, Outcome.ERROR) else 0


_OF_ROBOTS: Final = int(OptOut.TRAIN | OptOut.INPUT | OptOut.SEARCH | OptOut.AGENTS)
_ONE = b"\1"  # bitmap: the only link is external
