"""Small example webs for watching cash move: those of published demonstrations, and some that show one effect each."""

from typing import Final, NamedTuple

PairsOfPages = tuple[tuple[int, int], ...]


class ExampleWeb(NamedTuple):
    """Pages 0 to n - 1 and their links.

    Attributes
    ----------
    about
        A sentence that describes the web.
    pages
        Number of pages, n.
    links
        Source and target of each link.
    """

    about: str
    pages: int
    links: PairsOfPages


def _web(about: str, *rows: tuple[int, ...]) -> ExampleWeb:
    """Return a web from the links of each page; pages are numbered from 1."""
    links = tuple((source, target - 1) for source, row in enumerate(rows) for target in row)
    return ExampleWeb(about, len(rows), links)


_LEAVES: Final = 6
_HONEST: Final = 8
_TRAP: Final = 16

EXAMPLES: Final[dict[str, ExampleWeb]] = {
    "toy": _web(
        "Nine pages, of which one gets most of the links, and one none.",
        (5,), (1, 5), (6,), (1, 7), (4, 3, 9), (3, 9), (5, 8), (5,), (5,),
    ),
    "scale-free": _web(
        "24 pages: few get most of the links, most get none, and two lead nowhere.",
        (2, 5), (3, 1, 5, 7, 11), (1, 2, 7, 18), (2,), (2,), (3,), (), (5, 9), (5, 3, 2, 4, 7), (3, 9), (5,), (5,),
        (11,), (12, 9), (3,), (1,), (5,), (), (2,), (5,), (20,), (5,), (9,), (2,),
    ),
    "star": ExampleWeb(
        "All pages link to one, and that one to all.",
        1 + _LEAVES,
        tuple(pair for leaf in range(1, 1 + _LEAVES) for pair in ((leaf, 0), (0, leaf))),
    ),
    "trap": ExampleWeb(
        "Eight honest pages in a ring, one of which links to a calendar that links to ever more of itself.",
        _HONEST + _TRAP,
        (
            *((page, (page + 1) % _HONEST) for page in range(_HONEST)),
            *((page, 0) for page in range(2, _HONEST, 2)),
            (3, _HONEST),
            *((_HONEST + page, _HONEST + 2 * page + one) for page in range(_TRAP) for one in (1, 2)
              if 2 * page + one < _TRAP),
            *((_HONEST + page, _HONEST) for page in range(_TRAP // 2, _TRAP)),
        ),
    ),
}  # fmt: skip
"""Name -> web.

References
----------
Perunicic (2018). Performing Efficient Broad Crawls with the AOPIC Algorithm: `toy` and `scale-free`.
"""
