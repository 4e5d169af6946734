"""Worth by what people ask about: importance, times how like the page is to their questions."""

import numpy as np

from evercrawl.model.worth.query_match import Similarity
from evercrawl.model.worth.query_words import QueryWords
from evercrawl.model.worth.usage_counts import Following
from evercrawl.model.worth.weights import SILENT, Weight, unseen
from evercrawl.store.partition import Partition
from evercrawl.types import Floats, Slots


class QueryMatch(Weight):
    """Importance w times u + (1 - u) s / s0: s is the page's similarity, s0 that of a page with one of the words.

    Here a factor is right, as in a search: of pages about the same the better one is shown, and a page that is about
    nothing that is asked keeps the part u. Words of links are not looked at, nor those of the text.
    """

    def __init__(self, partition: Partition) -> None:
        self._words = QueryWords()
        self._following = Following(partition, self._words)
        self._similarity = Similarity(partition, self._words)
        self._scale: tuple[float, float] | None = None  # u and s0, until there are more questions

    @property
    def message(self) -> str:
        """Whether nothing is known."""
        return "" if self._words.questions else SILENT

    def worth(self, slots: Slots, importance: Floats) -> Floats:
        """Return what pages are worth, shape (n,)."""
        if self._following.renew() or self._scale is None:
            self._scale = unseen(self._words.once, self._words.said), self._words.usual
        stays, usual = self._scale
        if stays >= 1.0 or not usual:
            return importance
        return importance * (stays + (1.0 - stays) * self._similarity.of(slots) / usual)

    def saw(self, slot: int, importance: float) -> dict[str, float]:
        """Return how `similar` the page is to the questions, and how similar is `usual` of one with a word of them."""
        return {"similar": float(self._similarity.of(np.array([slot], np.uint32))[0]), "usual": self._words.usual}
