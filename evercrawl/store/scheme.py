"""How importance is learned in a crawl, as far as the store has to know: what cash is, and what is kept of a page."""

from typing import Final

import msgspec

NETWORK: Final = "/"
"""What the names of sites have in them that are networks of addresses, and those of no others."""


class Scheme(msgspec.Struct, frozen=True):
    """How importance is learned; whoever changes it has to begin anew with the cash (`events.Switched`).

    Attributes
    ----------
    name
        In the catalogue.
    handout
        Whether the virtual page spends; see `Accounts`.
    internal
        Weight of a link within a site.
    window
        What of the history counts, by its name in the catalogue; "" where the scheme has no windows, or where the crawl
        was begun before there was a choice.
    width
        How many numbers are kept of a page beside history and mark.
    trusted
        Sites that have a source, in order; all where none is named.
    distrusted
        Sites that have none in any case, in order.
    tax
        The part of a page's cash that goes to the virtual page rather than along its links.
    convention
        `tax`, or `link`: the virtual page is one more link of each page instead, and nothing is taxed.
    virtual
        Where the virtual page spends: `sites` get equal parts, or `pages` do, or known pages get what they are wanted
        (`focused`).
    in_turn
        Whether it spends in its turn, like other pages, rather than at once; see `Accounts`.

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
        """Whether a site is given anything by the virtual page, or has a source where that does not spend.

        A network of addresses that no seed names is given nothing: they cost next to nothing.

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
