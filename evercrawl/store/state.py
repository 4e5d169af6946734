"""All that a partition knows: URLs, records of fetched pages, hosts and counts; see `folding` for the events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.blocks import ChangedBlocks
from evercrawl.arrays.names import NumberedNames
from evercrawl.arrays.reserved import reserve, too_many
from evercrawl.errors import CeilingError
from evercrawl.store.cash.accounts import Accounts
from evercrawl.store.cash.cashbook import Cashbook
from evercrawl.store.cash.spread import ELSEWHERE, IN_CELL, in_cells, thinner
from evercrawl.store.forgotten import Forgotten
from evercrawl.store.host_instants import HostInstants
from evercrawl.store.journal.events import Visit
from evercrawl.store.originals import Originals
from evercrawl.store.records.records import FINDABLE, Records
from evercrawl.store.render_gains import RenderGains
from evercrawl.store.scheme import NETWORK, Scheme, spending
from evercrawl.store.steering import Steered
from evercrawl.store.table import folders
from evercrawl.store.table.known import TICKS_PER_S, KnownLog
from evercrawl.store.table.table import NO_RECORD, ROOT, KeyMap, Table
from evercrawl.store.table.urllog import UrlLog
from evercrawl.types import NO_SLOT, Floats, Ints, Keys, Outcome, Slots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.arrays.hasher import Hasher
    from evercrawl.store.disk.disk import Disk
    from evercrawl.store.journal.events import Discovery, Event
    from evercrawl.store.post.book import PostBook

RETRIED: Final = frozenset({0, 408, 425, 429, 500, 502, 503, 504})  # statuses that may be temporary
IN_VAIN: Final = (Outcome.ERROR, Outcome.REFUSED, Outcome.GONE)
RETRIES: Final = 2  # visits after which a page in trouble waits for its ordinary refresh
HELD: Final = (Outcome.OK, Outcome.TRUNCATED, Outcome.DUPLICATE)  # outcomes of visits that saw content
_HOSTS_A_SEGMENT: Final = 1 << 20
_PIECE: Final = 1 << 16  # URLs read at once
VANISHED: Final = 2  # consecutive visits that find a page gone, after which search no longer finds it


MOST_HOSTS: Final = (1 << 27) - 1
"""Maximum number of hosts of a partition; the queues of pages by host have room for as many."""
NAMES_BYTES: Final = (1 << 32) - (1 << 26)
"""Maximum size of their names, because offsets have 32 bits. A discovery adds less than what is left."""
_HOSTS: Final = 1 << 27
_NAMES_A_BLOCK: Final = 10  # a power of two
_HOSTS_A_BLOCK: Final = 10
_BIRTHS_A_BLOCK: Final = 10


class FoldedRecords(NamedTuple):
    """How many records a snapshot has, and how many events each block of them contains."""

    records: int
    sequences: Keys


class State:
    """All knowledge of a partition, in memory.

    Parameters
    ----------
    disk
        Disk with the derived files (`known.bin`, `urls.log`).
    epoch
        Start of the crawl, in seconds since the epoch, from which instants in records are counted.
    hasher
        The crawl's hashes.
    site, site_rules
        Host name -> its site, which is a network (`NETWORK`) for an address; an address that a seed names is its own
        site. Identifier of these rules, 0 if unknown.
    read
        Journal pointer -> its event.
    scheme
        The first scheme of importance.
    known, tail
        Number of URLs in a snapshot, and those in the incomplete block.
    writable
        False for a reader beside a running crawl; nothing is written or cut then.
    post
        Owners of hosts and exchange between partitions; None for a crawl of one partition.

    Attributes
    ----------
    scheme
        The present scheme of importance.
    hosts, sites, site_of
        Names of hosts by number, and of sites by index; index of each host's site, u32 by host.
    accounts
        Cash outside pages' cells.
    cashbook
        Moves cash as events say, and knows the total.
    born
        The clock G when each URL became known, f32 by slot, if the scheme circulates cash; 0 for URLs known since
        before a change of scheme. Empty under other schemes, which do not need it.
    folded
        While the journal is folded from the beginning of a snapshot: the events that its records already contain;
        else None. Assignments give the same result twice, running means would not.
    changed_hosts, new_hosts, new_sites, changed_born
        The blocks of `site_of`, `hosts`, `sites` and `born` that were written to since the last snapshot.
    lost
        Slot -> index of the record of a page whose content was lost to a broken disk; its cash and links still count.
    steered
        The result of orders and scope rules.
    render_gains
        What rendering has brought, by site.
    forgotten
        Pages and hosts that people had the crawl forget.
    post
        As the parameter.
    notes
        Numbers for outside readers, such as the price, stored in snapshots; those that a policy must keep to are also
        in the journal (`events.Noted`).
    """

    def __init__(
        self,
        disk: Disk,
        epoch: float,
        hasher: Hasher,
        site: Callable[[str], str] = str,
        read: Callable[[int], Event] | None = None,
        *,
        scheme: Scheme | None = None,
        known: int = 0,
        tail: list[str] | None = None,
        writable: bool = True,
        site_rules: int = 0,
        post: PostBook | None = None,
    ) -> None:
        self.epoch = epoch
        self.hasher = hasher
        self._read = read
        self._site = site
        self.site_rules, self.post = site_rules, post
        self.known = KnownLog(disk, known, writable=writable)
        self.urls = UrlLog.open(disk, known, tail or [], writable=writable)
        self.table = Table()
        self.scheme = scheme or Scheme()
        self.records = Records(width=self.scheme.width)
        self.hosts = NumberedNames(KeyMap(_HOSTS_A_SEGMENT, what="hosts"), hasher)
        self.sites = NumberedNames(KeyMap(_HOSTS_A_SEGMENT, what="sites"), hasher, within=self.hosts)
        self.site_of: Slots = reserve(np.uint32, _HOSTS)
        self.changed_hosts = ChangedBlocks(_HOSTS, _HOSTS_A_BLOCK)
        self.new_hosts, self.new_sites = (ChangedBlocks(_HOSTS, _NAMES_A_BLOCK) for _ in range(2))
        self._coming: dict[str, int] = {}  # hosts with a number that are not admitted yet
        self.accounts = Accounts(**spending(self.scheme))
        self.changed_born = ChangedBlocks(len(self.table.cash), _BIRTHS_A_BLOCK)
        self.born: NDArray[np.float32] = self._births()
        self.lost: dict[int, int] = {}
        self.notes: dict[str, float] = {}
        self.away = HostInstants()  # host -> time until which it must be left alone
        self.wished = HostInstants()  # the same by its answers alone, whatever silence followed
        self.steered = Steered()
        self.render_gains = RenderGains()
        self.forgotten = Forgotten.nothing()
        self.outcomes: Counter[int] = Counter()  # pages by their last outcome
        self.visits = 0
        self.changes = 0
        self.wire_bytes = 0
        self.originals = Originals()
        self.folded: FoldedRecords | None = None
        self.cashbook = Cashbook(self.table, self.records, self.accounts, self.known, self.site_of, self.lost, read)

    def find(self, urls: Sequence[str]) -> Slots:
        """Return the slots of normalised URLs, shape (n,); NO_SLOT for unknown ones.

        The texts are compared, so that no URL is ever taken for another one with the same key.
        """
        slots = self.table.find(self.hasher.keys(urls))
        known = np.flatnonzero(slots != NO_SLOT).tolist()
        for i, text in zip(known, self.urls.get_many(slots[known].tolist()), strict=True):
            if text != urls[i]:
                slots[i] = NO_SLOT
        return slots

    def find_one(self, url: str) -> int:
        """Return the slot of a normalised URL; NO_SLOT if it is unknown."""
        return int(self.find([url])[0])

    def host_number(self, name: str, new: list[str]) -> int:
        """Return the number of a host; a new one gets the next number and is added to `new`, to be admitted later.

        Raises
        ------
        CeilingError
            The host is new, and there is no room for another.
        """
        number = self.hosts.find(name)
        if number is None:
            number = self._coming.get(name)
        if number is None:
            if len(self.hosts) + len(self._coming) >= MOST_HOSTS:
                raise CeilingError(too_many("hosts", MOST_HOSTS))
            if self.hosts.text_bytes > NAMES_BYTES:
                raise CeilingError(too_many("bytes of host names", NAMES_BYTES))
            number = self._coming[name] = len(self.hosts) + len(self._coming)
            new.append(name)
        return number

    def admit(self, found: Discovery, at: float, keys: Keys) -> None:
        """Admit URLs that were just added to the table; their sites count them once the event is folded."""
        assert found.first_slot == self.known.count, "slots are given out in the order of the journal"
        seeds = found.depth == 0 and found.source == NO_SLOT and found.hops == 0  # hops: another partition's redirect
        for name in found.new_hosts:
            self._coming.pop(name, None)
            self.add_host(name, seed=seeds)
        spreads = self._spreads(found)
        named, count = found.anchor_marks, len(found.urls)
        marks = np.array([named.get(i, 0) for i in range(count)], np.uint8) if named else 0
        self.known.append(keys, found.hosts, self.ticks(at), found.source, found.depth, found.hops, spreads, marks)
        self.urls.append(found.urls)
        new = slice(found.first_slot, found.first_slot + len(found.urls))
        self.table.record[new] = (
            in_cells(spreads)
            | folders.in_cells(found.urls)
            | np.uint32(NO_RECORD | min(found.hops, 255) << 8 | min(found.depth, 255))
        )
        for slot, (url, host) in enumerate(zip(found.urls, found.hosts, strict=True), found.first_slot):
            root = found.depth == 0 or (url[-1] == "/" and url.count("/") == 3)
            if root and (self.post is None or self.post.owns(host)):
                self.table.record[slot] |= ROOT
        self.table.changed_record.note_rows(new.start, new.stop)

    def _spreads(self, found: Discovery) -> NDArray[np.uint8]:
        """Return the spread of each URL found, from what is known of the page that has the links."""
        count = len(found.urls)
        if found.source == NO_SLOT:  # seeds, entries of sitemaps, and URLs found by other partitions
            return np.full(count, found.thin or (thinner(0, count) if found.depth else 0), np.uint8)
        finder = self.known.row(found.source)
        inside = self.site_of[found.hosts] == self.site_of[finder["host"]]
        spread = int(finder["spread"])
        own = spread if found.hops else thinner(spread, int(np.count_nonzero(inside)))
        spreads: NDArray[np.uint8] = np.minimum(np.where(inside, own, ELSEWHERE) + found.thin, 255).astype(np.uint8)
        return spreads

    def add_host(self, name: str, *, seed: bool = False) -> None:
        """Add the next host, and its site if that is new; `seed` says that a seed is on the host."""
        host = self.hosts.append(name)
        if self.post is not None:
            self.post.note_hosts((name,))
        site = self.forgotten.site_of(host) or self._site_of(name, seed=seed)
        number = self.sites.find(site)
        if number is None:
            number = self.sites.append(site)
            self.new_sites.note(number)
            if number == self.accounts.count:  # else it is in a snapshot
                self.accounts.add_site(trusted=self.scheme.trusts(site))
        self.site_of[host] = number
        self.changed_hosts.note(host)
        self.new_hosts.note(host)

    def let_go(self, count: int) -> None:
        """Release the first `count` URLs from memory, which another process has durably written."""
        self.known.let_go(count)
        self.urls.let_go(count)

    def take_hosts(self, hosts: bytes, sites: bytes, *, known: bool) -> bool:
        """Restore hosts and sites from a snapshot whose `site_of` is loaded; False if the grouping has changed.

        Each name is followed by a line break. With `known`, the rules are unchanged, so that nothing must be
        compared.

        Raises
        ------
        ValueError
            The number of sites does not match the grouping of the hosts.
        """
        self.hosts.load(hosts)
        if self.post is not None:
            self.post.note_hosts(self.hosts)
        numbers = self.site_of[: len(self.hosts)].astype(np.int64)
        before = np.maximum.accumulate(np.concatenate(([-1], numbers)))[:-1]
        firsts: Ints = np.flatnonzero(numbers > before)  # a site's name is mostly a part of its first host's
        named = sites.count(b"\n")
        if len(firsts) != named:
            raise ValueError(f"hosts belong to {len(firsts)} sites, but {named} are named")
        self.sites.load(sites, firsts)
        if known:
            return True
        seeded = self.seeded()
        in_order: list[int] = numbers.tolist()
        return all(
            self.sites[number] == (self.forgotten.site_of(host) or self._site_of(name, seed=host in seeded))
            for host, (name, number) in enumerate(zip(self.hosts, in_order, strict=True))
        )

    def _site_of(self, name: str, *, seed: bool) -> str:
        """Return the site of a host; an address that a seed names is its own site."""
        site = self._site(name)
        return name if seed and NETWORK in site else site

    def seeded(self) -> set[int]:
        """Return the numbers of the hosts that seeds made known."""
        known = self.known.columns()
        hosts, first = np.unique(known.host, return_index=True)
        named = np.flatnonzero((known.depth[first] == 0) & (known.source[first] == NO_SLOT))
        if self.post is not None:  # redirect targets of other partitions' seeds look like seeds, but for their hops
            named = np.array([i for i in named.tolist() if not self.known.row(int(first[i]))["hops"]], np.int64)
        return set(hosts[named].tolist())

    def site_number(self, host: str) -> int | None:
        """Return the index of the site of a host name; None if no host of the site is known."""
        number = self.hosts.find(host)
        return self.sites.find(self._site(host)) if number is None else self.site_of.item(number)

    def in_snapshot(self, index: int, number: int) -> bool:
        """Return whether a record from a snapshot was copied after the event with this number."""
        if self.folded is None or index >= self.folded.records:
            return False
        return number < int(self.folded.sequences[index >> self.records.changed.bits])

    def see_room(self, event: Event) -> None:
        """Check that there is room for what folding an event adds, before the event is in the journal.

        Raises
        ------
        CeilingError
            It is the first visit of a page, and no further page can have a record.
        """
        if self.records.full and isinstance(event, Visit) and event.visits <= 1 and not self.lost:
            raise CeilingError(too_many("visited pages", self.records.count))

    def new_record(self, slot: int) -> tuple[int, int]:
        """Return the index of a record for a page without one, and the page's depth."""
        cell = int(self.table.record[slot])  # a snapshot's copy may be later than this visit
        depth = cell & 0xFF if cell & NO_RECORD else int(self.known.row(slot)["depth"])
        index = self.lost.pop(slot, None if cell >= self.records.count else cell)
        if index is None:
            index = self.records.add()
            self.records.rows["alias"][index] = NO_SLOT
            self.records.changed.note(index)
        self.table.record[slot] = index
        self.table.changed_record.note(slot)
        return index, depth

    def become(self, scheme: Scheme) -> None:
        """Change the scheme of importance, and discard all further numbers kept of pages."""
        self.scheme = scheme
        self.accounts.spends(**spending(scheme))
        self.records.keep(scheme.width)
        self.born = self._births()

    def _births(self) -> NDArray[np.float32]:
        births: NDArray[np.float32] = reserve(np.float32, len(self.table.cash) if self.scheme.handout else 0)
        self.changed_born.note_rows(0, self.known.count)
        return births

    def lose(self, slot: int) -> None:
        """Mark a page as never fetched, because its content was lost with a damaged disk."""
        index = int(self.table.record[slot])
        if not index & NO_RECORD:
            row = self.records.rows[index]
            if row["outcome"]:
                self.outcomes[int(row["outcome"])] -= 1
                row["outcome"] = 0
            row["flags"] &= ~np.uint8(FINDABLE)
            self.records.changed.note(index)
            facts = self.known.row(slot)
            spread = int(facts["spread"]) << IN_CELL | folders.mark(self.urls.get(slot)) << folders.IN_CELL
            self.table.record[slot] = NO_RECORD | spread | int(facts["hops"]) << 8 | int(facts["depth"])
            self.table.changed_record.note(slot)
            self.lost[slot] = index

    def forget_pages(self) -> None:
        """Mark the forgotten pages as never fetched."""
        for slot in self.forgotten.slots.tolist():
            if slot < self.known.count:
                self.lose(slot)

    def find_lost(self) -> None:
        """Find again, from the records, the pages whose lost content was not fetched since."""
        slots = self.records.rows["slot"][: self.records.count]
        for index in np.flatnonzero(self.table.record[slots] & np.uint32(NO_RECORD)).tolist():
            self.lost[int(slots[index])] = index

    def note_folders(self, *, anew: bool = False) -> None:
        """Mark the kinds of unread pages' addresses that an older version did not mark, or of all if `anew`."""
        cells = self.table.record[: self.known.count]
        if anew:
            cells[cells >= np.uint32(NO_RECORD)] &= np.uint32(~(folders.MARKS - 1 << folders.IN_CELL) & 0xFFFF_FFFF)
        unread = np.flatnonzero((cells >= np.uint32(NO_RECORD)) & (folders.marks(cells) == 0))
        for first in range(0, len(unread), _PIECE):
            slots = unread[first : first + _PIECE]
            cells[slots] |= folders.in_cells(self.urls.get_many(slots.tolist()))
            self.table.changed_record.put_back((slots >> self.table.changed_record.bits).astype(np.uint32))

    def index_originals(self) -> None:
        """Rebuild, from the records, the index of the pages that first had each content."""
        self.originals.index(self.records.rows[: self.records.count])

    def original(self, digest: int, rest: int) -> int:
        """Return the slot of a page whose last content had this digest, in two words; NO_SLOT if there is none."""
        slot = self.originals.find(digest)
        index = self.record_of(slot) if slot != NO_SLOT else None
        row = self.records.rows[index] if index is not None else None
        if row is None or int(row["digest"]) != digest or row["outcome"] != Outcome.OK:
            return NO_SLOT
        return slot if self._rest(int(row["event"])) == rest else NO_SLOT

    def _rest(self, pointer: int) -> int:
        """Return the second word of the digest of a page's content, from its last event with links."""
        event = self.event(pointer)
        return getattr(event, "digest_rest", 0)

    def event(self, pointer: int) -> Event | None:
        """Return the event at a journal pointer; None if there is none."""
        return self._read(pointer) if self._read is not None and pointer else None

    def record_of(self, slot: int) -> int | None:
        """Return the index of a page's record; None before its first visit."""
        cell = int(self.table.record[slot])
        return None if cell & NO_RECORD else cell

    def kept_of(self, slots: Slots, cells: Slots) -> Floats | None:
        """Return the scheme's further numbers of pages, shape (n, width); None if there are none.

        Parameters
        ----------
        slots, cells
            The pages, and their cells in `Table.record`; pages with lost content keep their numbers.
        """
        if self.lost and self.records.kept.shape[1]:
            found = zip(slots.tolist(), cells.tolist(), strict=True)
            cells = np.array([self.lost.get(slot, cell) for slot, cell in found], np.uint32)
        return self.records.kept_at(cells)

    def born_of(self, slots: Slots) -> Floats | None:
        """Return the clock G when URLs became known, shape (n,); None if it is not recorded."""
        return self.born.take(slots).astype(np.float64) if len(self.born) else None

    def ticks(self, at: float) -> int:
        """Return an instant in the unit of records."""
        return min(max(round((at - self.epoch) * TICKS_PER_S), 0), 0xFFFFFFFF)

    def instant(self, ticks: float) -> float:
        """Return an instant of a record in seconds since the epoch."""
        return self.epoch + ticks / TICKS_PER_S

    def visited_at(self, slot: int) -> float:
        """Return the instant of the last visit to a page with a record."""
        return self.epoch + float(self.records.rows["visited"][self.table.record[slot]]) / TICKS_PER_S

    def last_at(self) -> float:
        """Return the instant of the last known visit or discovery; the crawl's start if there is none."""
        visited = self.records.rows["visited"][: self.records.count].max(initial=0)
        count = self.known.count
        found = int(self.known.row(count - 1)["found"]) if count else 0
        return self.instant(max(int(visited), found))
