"""Query weight: importance times the page's similarity to people's queries."""

import numpy as np

from evercrawl.model.worth.query_match import Similarity
from evercrawl.model.worth.query_words import QueryWords
from evercrawl.model.worth.usage_counts import Following
from evercrawl.model.worth.weights import SILENT, Weight, unseen
from evercrawl.store.partition import Partition
from evercrawl.types import Floats, Slots


class QueryMatch(Weight):
    """Importance w times u + (1 - u) s / s0: s is the page's similarity, s0 that of a page with one of the words.

    A factor is right here, as in a search: among pages about the same topic the better one is shown, and a page
    unrelated to any query keeps the part u. Words of links and of the text are ignored.
    """

    def __init__(self, partition: Partition) -> None:
        self._words = QueryWords()
        self._following = Following(partition, self._words)
        self._similarity = Similarity(partition, self._words)
        self._scale: tuple[float, float] | None = None  # u and s0, cached until new queries arrive

    @property
    def message(self) -> str:
        """Whether nothing is known."""
        return "" if self._words.questions else SILENT

    def worth(self, slots: Slots, importance: Floats) -> Floats:
        """Return the worth of pages, shape (n,)."""
        if self._following.renew() or self._scale is None:
            self._scale = unseen(self._words.once, self._words.said), self._words.usual
        stays, usual = self._scale
        if stays >= 1.0 or not usual:
            return importance
        return importance * (stays + (1.0 - stays) * self._similarity.of(slots) / usual)

    def saw(self, slot: int, importance: float) -> dict[str, float]:
        """Return the page's similarity to queries, `similar`, and that of a page with one of their words, `usual`."""
        return {"similar": float(self._similarity.of(np.array([slot], np.uint32))[0]), "usual": self._words.usual}
