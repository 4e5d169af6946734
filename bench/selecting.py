"""Where importance of sites falls among experts: planted sites, links and raters, so that the truth is known.

    python bench/selecting.py
    python bench/selecting.py --standing 1       # a site matters by who links to it, and not else
    python bench/selecting.py --standing 0       # a site matters in itself, whoever links to it

Each site has a worth of its own, and sites mean to link to what is worth it; they err, each by itself and all together.
From the links that are meant follows what a site's standing is: importance, in the whole web. What raters try to see is
partly the one and partly the other. A crawl reads some of the pages, and it sees more than what is meant: footers that
name sites of any worth on every page, and farms, whose sites of little worth all link to each other.

Measures are cut into ranks in the proportions of what they are compared with. Abiteboul, Preda and Cobena (2003) take
the mean of the ratings for the reference: librarians agreed with it about 60 to 80 % of the sites, and importance about
65 %. Exits 1 when the raters are not of that kind; where importance falls among them is found, and depends on what
makes a site matter.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np
from figures import Figure

from evercrawl.ask.rank.agreement import Agreement, agreement
from evercrawl.importance.sites.sites import SiteLinks, site_importance

if TYPE_CHECKING:
    from evercrawl.ask.rank.ratings import Ratings
    from evercrawl.types import Floats, Ints

LEAST, MOST = 0.4, 0.8  # error of the best rater and of the worst, in standard deviations of what they try to see
PROPORTIONS = np.array([0.4, 0.3, 0.2, 0.1])  # of the ratings 1 to 4; a rater's own are drawn about them
LIKENESS = 400.0  # how near to them: of a Dirichlet distribution
ALL, EACH = 0.4, 1.0  # error of all who link, and of each by itself, in standard deviations of the worth
SPREAD = 1.5  # standard deviation of the logarithm of what makes links come: in-degrees have a heavy tail
LINKS, FOOTER, LARGEST = 2, 1, 2000  # meant links a page; sites in a footer; pages of the largest sites
FARM, FARM_PAGES = 12, 50  # sites of a farm, and the pages of each that link to each other
READ = 0.7  # share of the pages that the crawl has read
MEASURES = ("importance", "not damped", "linking sites", "linking pages")


def meant(draw: np.random.Generator, worth: Floats, sizes: Ints) -> Ints:
    """Return how many pages of each site mean to link to each other one, shape (sites, sites)."""
    n = len(worth)
    known_for = worth + ALL * draw.standard_normal(n)
    pages = np.zeros((n, n), np.int64)
    for site, size in enumerate(sizes.tolist()):
        attracts = np.exp(SPREAD * (known_for + EACH * draw.standard_normal(n)))
        linked = draw.choice(n, 1 + draw.poisson(LINKS * size), p=attracts / attracts.sum())
        pages[site] = np.minimum(np.bincount(linked, minlength=n), size)
    return pages


def links_of(pages: Ints, read: Ints | None = None) -> SiteLinks:
    """Return a table of how many pages link from site to site as links between sites."""
    pages = pages.copy()
    np.fill_diagonal(pages, 0)
    source, target = np.nonzero(pages)
    return SiteLinks(len(pages), source, target, pages[source, target], read)


def seen(draw: np.random.Generator, pages: Ints, worth: Floats, sizes: Ints, farms: int) -> SiteLinks:
    """Return the links as a crawl sees them: with footers and farms, of the pages that it has read."""
    n, found = len(worth), pages.copy()
    for site in range(n):
        found[site, draw.choice(n, FOOTER, replace=False)] = sizes[site]
    poor = draw.permutation(np.argsort(worth)[: n // 2])
    for farm in np.array_split(poor[: farms * FARM], max(farms, 1)):
        found[np.ix_(farm, farm)] = np.minimum(FARM_PAGES, sizes[farm])[:, None]
    read = np.maximum(draw.binomial(sizes, READ), 1)
    return links_of(np.minimum(draw.binomial(found, READ), read[:, None]), read)


def raters(draw: np.random.Generator, truth: Floats, count: int) -> Ratings:
    """Return what raters say, each with an error and proportions of his own."""
    names = [f"s{i}.example" for i in range(len(truth))]
    found: Ratings = {}
    for rater, error in enumerate(np.linspace(LEAST, MOST, count)):
        looks = truth + error * draw.standard_normal(len(truth))
        bounds = np.quantile(looks, np.cumsum(draw.dirichlet(LIKENESS * PROPORTIONS))[:3])
        given = 1 + np.searchsorted(bounds, looks)
        found[f"rater {rater + 1}"] = dict(zip(names, given.tolist(), strict=True))
    return found


def measured(links: SiteLinks) -> dict[str, Floats]:
    """Return what each measure makes of the sites."""
    undamped = site_importance(links, weight=links.pages.astype(np.float64))
    pages = np.bincount(links.target, links.pages, links.sites)
    found = (site_importance(links), undamped, links.linking.astype(np.float64), pages)
    return dict(zip(MEASURES, found, strict=True))


def standard(values: Floats) -> Floats:
    """Return values with mean 0 and standard deviation 1."""
    return (values - values.mean()) / values.std()


def planted(args: argparse.Namespace) -> Agreement:
    """Return how well measures and raters agree in one planted web."""
    draw = np.random.default_rng(args.seed)
    worth = draw.standard_normal(args.sites)
    sizes = np.minimum(1 + (5 * draw.pareto(0.8, args.sites)).astype(np.int64), LARGEST)
    pages = meant(draw, worth, sizes)
    standing = standard(np.log(site_importance(links_of(pages))))
    truth = standard((1 - args.standing) * standard(worth) + args.standing * standing)
    said = raters(draw, truth, args.raters)
    known = seen(draw, pages, worth, sizes, args.farms)
    return agreement(said, list(next(iter(said.values()))), measured(known))


def figures(found: Agreement) -> list[Figure]:
    """Return the numbers that have goals, and where the measure falls."""
    percent = {name: 100 * share for name, share in found.measures.items()}
    better = sum(of.mean_rating > found.mean_rating["importance"] for of in found.raters)
    return [
        Figure(
            "the rater who agrees least with the mean",
            100 * min(of.mean_rating for of in found.raters),
            "%",
            at_least=60,
        ),
        Figure(
            "the rater who agrees most with the mean", 100 * max(of.mean_rating for of in found.raters), "%", at_most=80
        ),
        Figure("the two raters that agree least", 100 * found.pairs[0], "%"),
        Figure("the two raters that agree most", 100 * found.pairs[-1], "%"),
        Figure("importance with the raters, mean", percent["importance"], "%"),
        Figure("  over the number of linking sites", percent["importance"] / percent["linking sites"], "x"),
        Figure("  over importance without the logarithm", percent["importance"] / percent["not damped"], "x"),
        Figure("importance with the mean rating", 100 * found.mean_rating["importance"], "%"),
        Figure("linking sites with the mean rating", 100 * found.mean_rating["linking sites"], "%"),
        Figure("raters who agree more with the mean rating", better, f"of {len(found.raters)}"),
    ]


def table(found: Agreement) -> str:
    """Return the agreement with each rater, in percent."""
    rows = [["", "other raters", "mean rating", "chance", *MEASURES]]
    for of in found.raters:
        shares = (of.others or 0.0, of.mean_rating, of.chance, *(of.measures[name] for name in MEASURES))
        rows.append([of.rater, *(f"{100 * share:.1f}" for share in shares)])
    rows.append(["mean rating", "", "", "", *(f"{100 * found.mean_rating[name]:.1f}" for name in MEASURES)])
    return "\n".join("  ".join(cell.rjust(13) for cell in row) for row in rows)


def main() -> int:
    """Plant, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default, meaning in (
        ("sites", 1000, "how many"),
        ("raters", 8, "how many"),
        ("farms", 5, f"how many, of {FARM} sites each"),
        ("seed", 1, "draws everything"),
        ("standing", 0.5, "how much of what raters try to see is standing, 0 to 1; the rest is worth"),
    ):
        parser.add_argument(f"--{name}", type=type(default), default=default, help=f"{meaning} (default: {default})")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    found = planted(args)
    numbers = figures(found)
    if args.json:
        print(json.dumps({"agreement": asdict(found), "figures": [asdict(of) for of in numbers]}))
    else:
        print(table(found), *numbers, sep="\n")
    return int(any(of.ratio is not None and of.ratio < 1 for of in numbers))


if __name__ == "__main__":
    sys.exit(main())
