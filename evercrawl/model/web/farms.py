"""Link farms in a crawl: groups of its sites whose importance comes from each other's links."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from evercrawl.importance.sites.farms import Farm, suspected_farms
from evercrawl.model.view import View
from evercrawl.model.web.site_graph import OWN, read_pages, site_links
from evercrawl.model.web.suspicion import Suspicion
from evercrawl.parse.sites import is_address
from evercrawl.store.scheme import NETWORK
from evercrawl.types import Ints

KIND: Final = "farm"


def farms(view: View) -> list[Suspicion]:
    """Return the groups of sites that look like link farms, by the links of pages as last read.

    Trust is ignored: a farm is a farm whether or not it has a source. Networks of addresses never have a source, and
    are not compared with other sites.

    Raises
    ------
    StoreError
        The journal is damaged.
    """
    names = view.state.sites
    named = np.array([NETWORK not in name for name in names], np.bool_)
    source = (named & (read_pages(view.state, OWN) > 0)).astype(np.float64)
    seeded = np.zeros(len(names), np.bool_)
    seeded[[view.state.site_of.item(host) for host in view.state.seeded()]] = True
    found = suspected_farms(site_links(view), source, owners(names), view.scheme.tax, seeded)
    return [_told(farm, names) for farm in found]


def farmers(view: View) -> tuple[str, ...]:
    """Return the sites of all suspected farms, in order: those that get no source when farms are capped.

    Raises
    ------
    StoreError
        The journal is damaged.
    """
    return tuple(sorted({site for farm in farms(view) for site in farm.sites}))


def owners(sites: Sequence[str]) -> Ints:
    """Return a number for each site, the same for names that differ only in a part anyone can register.

    Examples
    --------
    >>> owners(["ant.de", "ant.co.uk", "bee.de", "192.0.2.1", "192.0.2.2", "198.51.100.0/24"]).tolist()
    [0, 0, 1, 2, 3, 4]
    """
    numbers = dict[str, int]()
    return np.array([numbers.setdefault(_owner(site), len(numbers)) for site in sites], np.int64)


def _owner(site: str) -> str:
    return site if is_address(site) or NETWORK in site else site.partition(".")[0]


def _told(farm: Farm, names: Sequence[str]) -> Suspicion:
    numbers: list[int] = farm.sites.tolist()
    sites = tuple(names[number] for number in numbers)
    return Suspicion(
        KIND,
        sites,
        f"{farm.within:.0%} of what links bring to these {len(sites)} sites comes from themselves; no other site links "
        f"to {farm.alone:.0%} of them, where that is so of {farm.usual:.0%} of the others; {farm.mutual:.0%} of the "
        f"links among them are returned; {sites[0]} has {farm.gain:.1f} times as much as it would have without them",
        farm.gain,
        {
            "within": farm.within, "alone": farm.alone, "usual": farm.usual, "mutual": farm.mutual, "gain": farm.gain,
            "importance": farm.importance,
        },
    )  # fmt: skip
