"""A living web in which some pages rise: more and more pages link to them, while other links come and go."""

from __future__ import annotations

import numpy as np

from evercrawl.simulate.living.text import page
from evercrawl.simulate.living.web import LOGIN, LivingWeb


class RisingWeb(LivingWeb):
    """A `LivingWeb` of which some pages gain links as long as it lives, by edits of the pages that link to them.

    A page that takes part begins to link to the riser at its first change after an instant of its own, drawn evenly
    from the life of the web, and does not cease to. Every page also links to some pages at random, others after each
    change, so that links to every page come and go.

    Parameters
    ----------
    seed
        Draws everything.
    risers, linkers
        How many pages rise, and how many pages begin to link to each.
    lasts_s
        How long the web lives.
    passing
        Links to pages at random, of each version of a page.
    more
        As for `LivingWeb`; the calendars end.

    Attributes
    ----------
    rising
        The URLs of the pages that rise.

    Examples
    --------
    >>> web = RisingWeb(seed=1, risers=2, linkers=10, lasts_s=60.0, hosts=5, pages=100)
    >>> len(web.rising), sum(web.linking(web.rising[0], at=60.0)) > sum(web.linking(web.rising[0], at=0.0))
    (2, True)
    """

    def __init__(
        self, seed: int, *, risers: int, linkers: int, lasts_s: float, passing: int = 2, **more: float
    ) -> None:
        super().__init__(seed, endless=False, **more)  # type: ignore[arg-type]
        draw = np.random.default_rng([seed, 4])
        stays = np.array([number for number in range(self.plan.count) if np.isinf(self.vanishes_at(number))])
        chosen: list[int] = draw.choice(stays, risers, replace=False).tolist()
        self.rising = [self.urls[number] for number in chosen]
        self._passing = passing
        self._risers: dict[int, list[tuple[float, str]]] = {}
        for url in self.rising:
            taking_part: list[int] = draw.choice(stays, linkers, replace=False).tolist()
            for linker in taking_part:
                start = self.began_at + float(draw.uniform(0.0, lasts_s))
                self._risers.setdefault(linker, []).append((start, url))

    def linking(self, url: str, at: float) -> list[bool]:
        """Return for each page with content, by number, whether it is one of those that link to a riser by then."""
        return [
            any(riser == url for riser in self._named(number, self.version(number, at)))
            for number in range(self.plan.count)
        ]

    def _named(self, number: int, version: int) -> list[str]:
        """Return the risers that a version of a page links to: versions are of their time, and the first of none."""
        since = float(self._changes[number][version - 1]) if version else -np.inf
        return [url for start, url in self._risers.get(number, []) if start <= since and url != self.urls[number]]

    def _written(self, number: int, version: int) -> bytes:
        url = self.urls[number]
        draw = np.random.default_rng([self.seed, 5, number, version])
        drawn: list[int] = draw.integers(0, self.plan.count, self._passing).tolist()
        passing = [self.urls[other] for other in drawn]
        text = [self._sentences.text(f"{url} stays", 10), self._sentences.text(f"{url} {version}", 10)]
        links = [*self.links(url), *self._named(number, version), *passing]
        return page(f"Page {number} of {url}", text, dict.fromkeys(links), [LOGIN])
