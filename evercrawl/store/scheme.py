"""The scheme of importance, as far as it affects the store: what cash is, and what is kept of a page."""

from typing import Final

import msgspec

NETWORK: Final = "/"
"""Character in the names of sites that are networks of addresses, and of no others."""


class Scheme(msgspec.Struct, frozen=True):
    """The scheme of importance; a change of it resets the cash (`events.Switched`).

    Attributes
    ----------
    name
        Name in the catalogue.
    handout
        Whether the virtual page spends; see `Accounts`.
    internal
        Weight of a link within a site.
    window
        The part of the history that counts, by its name in the catalogue; "" if the scheme has no windows, or the
        crawl was begun before there was a choice.
    width
        Number of further numbers kept of each page, beside history and mark.
    trusted
        Sites that have a source, in order; if empty, all have one.
    distrusted
        Sites that never have a source, in order.
    tax
        The fraction of a page's cash that goes to the virtual page rather than along its links.
    convention
        `tax`; or `link`: the virtual page is an additional link of each page, and nothing is taxed.
    virtual
        Where the virtual page spends: equal parts for `sites` or `pages`, or by how much known pages are wanted
        (`focused`).
    in_turn
        Whether it keeps its cash until its turn comes, like other pages, rather than spending at once; see
        `Accounts`.

    Examples
    --------
    >>> Scheme(trusted=("a.example",)).trusts("a.example"), Scheme(trusted=("a.example",)).trusts("b.example")
    (True, False)
    >>> Scheme(distrusted=("b.example",)).trusts("a.example"), Scheme(distrusted=("b.example",)).trusts("b.example")
    (True, False)
    """

    name: str = "push"
    handout: bool = False
    internal: float = 1.0
    window: str = ""
    width: int = 0
    trusted: tuple[str, ...] = ()
    distrusted: tuple[str, ...] = ()
    tax: float = 0.15
    convention: str = "tax"
    virtual: str = "sites"
    in_turn: bool = False

    def trusts(self, site: str) -> bool:
        """Return whether a site receives virtual cash, or has a source if the virtual page spends nothing.

        Networks of addresses that no seed names receive nothing, because they cost next to nothing.

        >>> Scheme().trusts("192.0.2.0/24")
        False
        """
        return NETWORK not in site and (not self.trusted or site in self.trusted) and site not in self.distrusted


def spending(scheme: Scheme) -> dict[str, bool]:
    """Return how the virtual page spends, as arguments of `Accounts`.

    >>> spending(Scheme("aopic", handout=True, virtual="pages"))
    {'handout': True, 'pages': True, 'in_turn': False, 'focused': False}
    """
    virtual = scheme.virtual
    return {
        "handout": scheme.handout,
        "pages": virtual == "pages",
        "in_turn": scheme.in_turn,
        "focused": virtual == "focused",
    }
