"""Cash that is not in a page's own cell: the virtual page's, and each site's share of it.

A site's *members* are its pages that hold content of their own, and its unread roots; virtual cash goes to sites in
equal parts, and inside a site to the members in equal parts. Nobody touches the members for that: a counter a site says
how much each of them was given, and one counter for all how much each site was. A page's cash is its cell plus `share`.

Where the virtual page spends nothing (push) there is a constant source of 1 a site instead, and the share of a member
is its part of that; the cells then hold what came along links less what was passed on.

As published the virtual page leads to every page alike (`pages`): then one counter says what each member was given, and
a site gets the more the more pages it has. And it is a page among others, which keeps what it gets until its turn comes
(`in_turn`). Both are options; a site with many URLs, or a calendar without end, gains by the first. It can also give to
known pages by how much they are wanted (`focused`): then it spends by events alone, and no share is owed to anybody.

Where some sites are trusted and others not, only the trusted are given anything, again in equal parts: TrustRank as a
biased virtual page. So no site ever has more than one part, whatever it links to itself.

References
----------
Gyongyi, Garcia-Molina, Pedersen (2004). Combating Web Spam with TrustRank, section 4.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evercrawl.arrays.blocks import BlocksThen, ChangedBlocks
from evercrawl.arrays.reserved import reserve
from evercrawl.types import Floats, Slots

_SITES: Final = 1 << 26
SITE: Final = np.dtype(
    [
        ("members", "<u4"),
        ("date_true", "<u4"),  # visits at which Last-Modified agreed with what was seen, and at which it did not
        ("date_false", "<u4"),
        ("listed_true", "<u4"),  # the same for the dates of sitemaps and feeds
        ("listed_false", "<u4"),
        ("announced", "<f8"),  # changes that it announced, and those it did not; see `change.announcements`
        ("unannounced", "<f8"),
        ("listened", "<f8"),
        ("looked", "<f8"),
        ("trusted", "<u4"),  # 1: it is given its part; 0: it has to live of what links bring
        ("given", "<f8"),  # what each member was given so far
        ("settled", "<f8"),  # what each site had been given when `given` was last brought up to date
    ]
)
"""What is kept of a site."""
SITE_BITS: Final = 5
"""Blocks of them, of which is noted whether they changed, have 2^5: 2 KiB."""


class SavedAccounts(NamedTuple):
    """All accounts but the sites' rows, as snapshots have them.

    Attributes
    ----------
    virtual, total
        As in `Accounts`.
    each, active
        What each trusted site with members, or each member of one, was given so far, and how many of them there are.
    known
        Sites known; their rows are saved as a column.
    """

    virtual: float = 0.0
    total: float = 0.0
    each: float = 0.0
    active: int = 0
    known: int = 0


class Accounts:
    """The virtual page, and all sites.

    Parameters
    ----------
    handout
        Whether the virtual page spends; then there is cash of 1 in all, and at first it is the virtual page's.
    pages
        Where it spends: whether every member is given as much, rather than every site.
    in_turn
        Whether it spends only when it holds as much as a page would if all cash were spread evenly; else at once.
    focused
        Whether it spends by events alone (`Cashbook.virtual_spent`), and not by itself.

    Attributes
    ----------
    virtual
        Cash of the virtual page that is not spent.
    total
        Cash moved by visits so far, G.
    sites
        A row of `SITE` for each.
    count
        Sites known.
    changed
        Which blocks of rows were written to since the last snapshot.
    then
        While a snapshot is written, the rows of its instant; who writes to a row says so before, by `row`.

    Examples
    --------
    Two sites, of one and of two members, are given half each:

    >>> accounts = Accounts(handout=True)
    >>> accounts.add_site(), accounts.add_site()
    (0, 1)
    >>> before = accounts.join(0), accounts.join(1), accounts.join(1)
    >>> accounts.spend()
    >>> accounts.share(0), accounts.share(1), accounts.held()
    (0.5, 0.25, 1.0)

    The same where only the first is trusted:

    >>> accounts.begin(handout=True, trusted=[True, False])
    >>> accounts.spend()
    >>> accounts.share(0), accounts.share(1), accounts.held()
    (1.0, 0.0, 1.0)
    """

    def __init__(self, *, handout: bool, pages: bool = False, in_turn: bool = False, focused: bool = False) -> None:
        self.spends(handout=handout, pages=pages, in_turn=in_turn, focused=focused)
        self.virtual = 1.0 if handout else 0.0
        self.total = 0.0
        self.sites: NDArray[Any] = reserve(SITE, _SITES)
        self._members, self._given, self._settled, self._trusted = (
            self.sites[name] for name in ("members", "given", "settled", "trusted")
        )
        self.changed = ChangedBlocks(len(self.sites), SITE_BITS)
        self.then: BlocksThen | None = None
        self.count = 0
        self._active = 0  # trusted sites with members, or members of trusted sites
        self._each = 0.0  # what each of them was given so far

    def spends(self, *, handout: bool, pages: bool = False, in_turn: bool = False, focused: bool = False) -> None:
        """Say how the virtual page spends; who changes that in a crawl that goes on has to `begin` anew."""
        self.handout, self.pages, self.in_turn = handout, handout and pages, in_turn
        self.focused = handout and focused

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self.count * SITE.itemsize

    def begin(
        self,
        *,
        handout: bool,
        trusted: Sequence[bool],
        pages: bool = False,
        in_turn: bool = False,
        focused: bool = False,
    ) -> None:
        """Begin anew with the cash; members and what is known of dates and announcements stay.

        Parameters
        ----------
        handout, pages, in_turn, focused
            How the virtual page spends from now on.
        trusted
            Of each site, whether it is given anything from now on.
        """
        self.spends(handout=handout, pages=pages, in_turn=in_turn, focused=focused)
        self.virtual, self.total, self._each = 1.0 if handout else 0.0, 0.0, 0.0
        assert self.then is None, "no snapshot is written meanwhile"
        self.changed.note_rows(0, self.count)
        rows = self.sites[: self.count]
        rows["given"] = rows["settled"] = 0.0
        rows["trusted"] = trusted
        members = rows["members"][rows["trusted"] > 0]
        self._active = int(members.sum() if self.pages else np.count_nonzero(members))

    def add_site(self, *, trusted: bool = True) -> int:
        """Return the index of a new site, without members."""
        self._touch(self.count)
        self._trusted[self.count] = trusted
        self.count += 1
        return self.count - 1

    def row(self, site: int) -> Any:
        """Return the row of a site, in place, to be written to."""
        self._touch(site)
        return self.sites[site]

    def _touch(self, site: int) -> None:
        """Take note that a row is about to be written to."""
        if self.then is not None:
            self.then.before(site >> self.changed.bits)
        self.changed.note(site)

    def join(self, site: int) -> float:
        """Count one more member; return its share so far, which its cell has to be lowered by: it was not there."""
        self._touch(site)
        self._settle(site)
        members = int(self._members[site])
        if self.pages or not members:
            self._active += int(self._trusted[site])
        self._members[site] = members + 1
        return self._given_to(site)

    def leave(self, site: int) -> float:
        """Count one member less; return its share so far, which its cell has to be raised by."""
        self._touch(site)
        self._settle(site)
        members = int(self._members[site])
        assert members, "a page leaves that was no member"
        self._members[site] = members - 1
        if self.pages or members == 1:
            self._active -= int(self._trusted[site])
        return self._given_to(site)

    def spend(self) -> None:
        """Give the virtual page's cash away, where it is of the kind that does."""
        if self.focused:
            return
        if self.handout and self._active and (not self.in_turn or self.virtual >= 1 / (1 + self._active)):
            self._each += self.virtual / self._active
            self.virtual = 0.0

    def share(self, site: int) -> float:
        """Return what the cash of a member of `site` is above its cell."""
        members: int = self._members.item(site)
        if not members or not self._trusted.item(site):
            return 0.0
        if not self.handout:
            return 1.0 / members
        if self.pages:
            return self._each
        return float(self._given[site] + (self._each - self._settled[site]) / members)

    def shares(self, sites: Slots | None = None) -> Floats:
        """Return `share` for many sites, shape (n,); for all that there are where none are named."""
        rows = self.sites[: self.count] if sites is None else self.sites.take(sites)
        members = np.maximum(rows["members"], 1)
        given: Any = rows["given"] + (self._each - rows["settled"]) / members if self.handout else 1.0 / members
        given = self._each if self.pages else given
        return np.where((rows["members"] > 0) & (rows["trusted"] > 0), given, 0.0)

    def held(self) -> float:
        """Return all cash that is in no cell: the virtual page's, and all members' shares; without sources."""
        rows = self.sites[: self.count]
        shares = float(np.dot(rows["members"], self.shares())) if self.handout else 0.0
        return self.virtual + shares

    def fixed_shares(self, blocks: Slots) -> Floats:
        """Return what the shares of all members add up to but for what was given of late, a sum for each block.

        With as many times what each was given as there are sites, or members, that are given something, it is all.
        """
        if self.pages:
            return np.zeros(len(blocks))
        rows = self.sites[: len(self.sites) >> SITE_BITS << SITE_BITS].reshape(-1, 1 << SITE_BITS)[blocks]
        fixed = rows["members"] * rows["given"] - rows["settled"]
        sums: Floats = np.where((rows["members"] > 0) & (rows["trusted"] > 0), fixed, 0.0).sum(axis=1)
        return sums

    def owed(self, fixed: float) -> float:
        """Return all cash that is in no cell less all there should be, where `fixed_shares` of all sites add up so."""
        shares = fixed + self._each * self._active if self.handout else 0.0
        return self.virtual + shares - (1.0 if self.handout else 0.0)

    def sources(self) -> float:
        """Return the sum of the constant sources: 1 a trusted site with members, none where the virtual page spends."""
        return 0.0 if self.handout else float(self._active)

    def save(self) -> SavedAccounts:
        """Return everything but the rows, for a snapshot."""
        return SavedAccounts(self.virtual, self.total, self._each, self._active, self.count)

    def restore(self, saved: SavedAccounts) -> None:
        """Become what `save` saved; the rows come beside it."""
        self.virtual, self.total, self._each, self._active = saved.virtual, saved.total, saved.each, saved.active
        self.count = saved.known

    def _given_to(self, site: int) -> float:
        """Return what each member of a site was given so far."""
        return self._each * float(self._trusted[site]) if self.pages else float(self._given[site])

    def _settle(self, site: int) -> None:
        if not self.handout or self.pages:
            return
        if self._members[site] and self._trusted[site]:
            self._given[site] += (self._each - self._settled[site]) / self._members[site]
        self._settled[site] = self._each
