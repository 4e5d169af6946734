"""Cash outside the pages' own cells: the virtual page's, and each site's part of what it gives.

A site's *members* are its pages with content of their own, and its unread roots. The virtual page gives its cash to
sites in equal parts, and each site's part goes to its members in equal parts. No cell is written for that: one
counter per site holds the amount given to each member so far, and a global counter the amount given to each site. A
page's cash is its cell plus `share`.

If the virtual page spends nothing (push), each site has a constant source of 1 instead, and a member's share is its
part of that; the cells then hold the cash received along links minus the cash passed on.

Three options change how the virtual page spends. As published, it links to every page alike (`pages`): one counter
holds the amount given to each member, so a site with more pages gets more; sites with many URLs or an endless
calendar gain by that. In the publication it is also a page among others, which keeps its cash until its turn comes
(`in_turn`). It can also give to known pages by how much they are wanted (`focused`): then it spends by events alone,
and shares are 0.

If only some sites are trusted, only these receive anything, again in equal parts: TrustRank as a biased virtual page.
So no site ever has more than one part, whatever links it makes to itself.

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

_SITES: Final = 1 << 27
SITE: Final = np.dtype(
    [
        ("members", "<u4"),
        ("date_true", "<u4"),  # visits that confirmed Last-Modified, and visits that contradicted it
        ("date_false", "<u4"),
        ("listed_true", "<u4"),  # the same for the dates of sitemaps and feeds
        ("listed_false", "<u4"),
        ("announced", "<f8"),  # changes that it announced, and those that it did not; see `change.announcements`
        ("unannounced", "<f8"),
        ("listened", "<f8"),
        ("looked", "<f8"),
        ("trusted", "<u4"),  # 1: it receives its part; 0: it only receives cash along links
        ("given", "<f8"),  # amount given to each member so far
        ("settled", "<f8"),  # amount given to each site when `given` was last updated
    ]
)
"""The row of a site."""
SITE_BITS: Final = 5
"""A block has 2^5 rows (2 KiB); changes are tracked by block."""


class SavedAccounts(NamedTuple):
    """All accounts but the sites' rows, as stored in snapshots.

    Attributes
    ----------
    virtual, total
        As in `Accounts`.
    each, active
        Amount given so far to each trusted site with members, or to each member of one; the number of those.
    known
        Number of known sites; their rows are saved as a column.
    """

    virtual: float = 0.0
    total: float = 0.0
    each: float = 0.0
    active: int = 0
    known: int = 0


class Accounts:
    """The accounts of the virtual page and of all sites.

    Parameters
    ----------
    handout
        Whether the virtual page spends; then the total cash is 1, and at first the virtual page has all of it.
    pages
        Whether it gives every member, rather than every site, the same amount.
    in_turn
        Whether it spends only when it holds as much as a page would if all cash were divided equally; else at once.
    focused
        Whether it spends by events alone (`Cashbook.virtual_spent`).

    Attributes
    ----------
    virtual
        Unspent cash of the virtual page.
    total
        Cash moved by visits so far (G).
    sites
        One row of `SITE` for each site.
    count
        Number of known sites.
    changed
        The blocks of rows that were written to since the last snapshot.
    then
        While a snapshot is written, the rows as of its instant; writers of a row must announce that, by `row`.

    Examples
    --------
    Two sites, with one and two members, receive half each:

    >>> accounts = Accounts(handout=True)
    >>> accounts.add_site(), accounts.add_site()
    (0, 1)
    >>> before = accounts.join(0), accounts.join(1), accounts.join(1)
    >>> accounts.spend()
    >>> accounts.share(0), accounts.share(1), accounts.held()
    (0.5, 0.25, 1.0)

    The same if only the first is trusted:

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
        self._active = 0  # number of trusted sites with members, or of members of trusted sites
        self._each = 0.0  # amount given to each of them so far

    def spends(self, *, handout: bool, pages: bool = False, in_turn: bool = False, focused: bool = False) -> None:
        """Set how the virtual page spends; to change that in a running crawl, call `begin`."""
        self.handout, self.pages, self.in_turn = handout, handout and pages, in_turn
        self.focused = handout and focused

    @property
    def nbytes(self) -> int:
        """Return the memory in use, in bytes."""
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
        """Reset all cash; members and statistics of dates and announcements stay.

        Parameters
        ----------
        handout, pages, in_turn, focused
            How the virtual page spends from now on.
        trusted
            For each site, whether it receives anything from now on.
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
        """Add a site without members; return its index."""
        self._touch(self.count)
        self._trusted[self.count] = trusted
        self.count += 1
        return self.count - 1

    def row(self, site: int) -> Any:
        """Return the row of a site for writing."""
        self._touch(site)
        return self.sites[site]

    def _touch(self, site: int) -> None:
        """Prepare a row for being written to."""
        if self.then is not None:
            self.then.before(site >> self.changed.bits)
        self.changed.note(site)

    def join(self, site: int) -> float:
        """Add a member; return its share so far, which must be subtracted from its cell, as it was no member then."""
        self._touch(site)
        self._settle(site)
        members = int(self._members[site])
        if self.pages or not members:
            self._active += int(self._trusted[site])
        self._members[site] = members + 1
        return self._given_to(site)

    def leave(self, site: int) -> float:
        """Remove a member; return its share so far, which must be added to its cell."""
        self._touch(site)
        self._settle(site)
        members = int(self._members[site])
        assert members, "a page leaves that was no member"
        self._members[site] = members - 1
        if self.pages or members == 1:
            self._active -= int(self._trusted[site])
        return self._given_to(site)

    def spend(self) -> None:
        """Give away the virtual page's cash, if it spends by itself."""
        if self.focused:
            return
        if self.handout and self._active and (not self.in_turn or self.virtual >= 1 / (1 + self._active)):
            self._each += self.virtual / self._active
            self.virtual = 0.0

    def share(self, site: int) -> float:
        """Return the cash of a member of `site` beyond its cell."""
        members: int = self._members.item(site)
        if not members or not self._trusted.item(site):
            return 0.0
        if not self.handout:
            return 1.0 / members
        if self.pages:
            return self._each
        return float(self._given[site] + (self._each - self._settled[site]) / members)

    def shares(self, sites: Slots | None = None) -> Floats:
        """Return the `share` of each of many sites, shape (n,); of all known sites by default."""
        rows = self.sites[: self.count] if sites is None else self.sites.take(sites)
        members = np.maximum(rows["members"], 1)
        given: Any = rows["given"] + (self._each - rows["settled"]) / members if self.handout else 1.0 / members
        given = self._each if self.pages else given
        return np.where((rows["members"] > 0) & (rows["trusted"] > 0), given, 0.0)

    def held(self) -> float:
        """Return all cash outside cells, without sources: the virtual page's, and all members' shares."""
        rows = self.sites[: self.count]
        shares = float(np.dot(rows["members"], self.shares())) if self.handout else 0.0
        return self.virtual + shares

    def fixed_shares(self, blocks: Slots) -> Floats:
        """Return, for each block, the part of its members' shares that does not depend on the amount given to each.

        The shares of all members are these sums plus, for each receiving site or member, the amount given to each.
        """
        if self.pages:
            return np.zeros(len(blocks))
        rows = self.sites[: len(self.sites) >> SITE_BITS << SITE_BITS].reshape(-1, 1 << SITE_BITS)[blocks]
        fixed = rows["members"] * rows["given"] - rows["settled"]
        sums: Floats = np.where((rows["members"] > 0) & (rows["trusted"] > 0), fixed, 0.0).sum(axis=1)
        return sums

    def owed(self, fixed: float) -> float:
        """Return all cash outside cells minus the expected total, given the sum of `fixed_shares` over all blocks."""
        shares = fixed + self._each * self._active if self.handout else 0.0
        return self.virtual + shares - (1.0 if self.handout else 0.0)

    def sources(self) -> float:
        """Return the sum of the constant sources: 1 per trusted site with members; 0 if the virtual page spends."""
        return 0.0 if self.handout else float(self._active)

    def save(self) -> SavedAccounts:
        """Return all but the rows, for a snapshot."""
        return SavedAccounts(self.virtual, self.total, self._each, self._active, self.count)

    def restore(self, saved: SavedAccounts) -> None:
        """Restore what `save` returned; the rows are restored separately."""
        self.virtual, self.total, self._each, self._active = saved.virtual, saved.total, saved.each, saved.active
        self.count = saved.known

    def _given_to(self, site: int) -> float:
        """Return the amount given to each member of a site so far."""
        return self._each * float(self._trusted[site]) if self.pages else float(self._given[site])

    def _settle(self, site: int) -> None:
        if not self.handout or self.pages:
            return
        if self._members[site] and self._trusted[site]:
            self._given[site] += (self._each - self._settled[site]) / self._members[site]
        self._settled[site] = self._each
