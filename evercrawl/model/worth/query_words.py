"""The words of people's queries, weighted towards recent ones."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from evercrawl.model.worth.usage import Question
from evercrawl.schedule.pages import USE_HALF_LIFE_S
from evercrawl.search.schema import words_of

HALF_LIFE_S: Final = USE_HALF_LIFE_S
"""A question of so long ago counts half as much as one of now."""
MOST_WORDS: Final = 10_000
"""The heaviest that are kept, once there are twice as many."""
MOVED: Final = 0.02
"""Part of all weight that has to be new before `version` says that the weights are others."""


class QueryWords:
    """Weights of words, a fold over queries: each query has a weight of one, shared by its words.

    Attributes
    ----------
    questions
        Number of queries with words.
    version
        Grows whenever the weights have changed noticeably; 0 without any.

    Examples
    --------
    >>> from evercrawl.model.worth.usage import Question
    >>> words = QueryWords()
    >>> words.learn([Question(0.0, "green tea"), Question(0.0, "tea")])
    >>> words.weights
    {'green': 0.25, 'tea': 0.75}
    >>> words.similarity(["tea", "house", "tea"])
    0.75
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start over; the version keeps increasing."""
        self.questions = 0
        self.version = getattr(self, "version", -1) + 1
        self._began_at = 0.0
        self._count: Counter[str] = Counter()
        self._weight: dict[str, float] = {}  # in units of a query asked at `_began_at`
        self._total = self._told = 0.0

    def learn(self, questions: Iterable[Question]) -> None:
        """Take in queries; their order does not matter."""
        for question in questions:
            words = list(dict.fromkeys(words_of(question.query)))
            if not words:
                continue
            if not self.questions:
                self._began_at = question.at
            self.questions += 1
            weight = 2.0 ** min((question.at - self._began_at) / HALF_LIFE_S, 900.0)
            self._count.update(words)
            for word in words:
                self._weight[word] = self._weight.get(word, 0.0) + weight / len(words)
            self._total += weight
        if len(self._weight) > 2 * MOST_WORDS:
            heaviest = sorted(self._weight.items(), key=lambda pair: -pair[1])[:MOST_WORDS]
            self._weight, self._total = dict(heaviest), sum(weight for _, weight in heaviest)
            self._count = Counter({word: self._count[word] for word in self._weight})
        if self._total - self._told > MOVED * self._total:
            self.version, self._told = self.version + 1, self._total

    @property
    def weights(self) -> Mapping[str, float]:
        """Word -> its share of all weight; these sum to 1."""
        return {word: weight / self._total for word, weight in self._weight.items()}

    def similarity(self, words: Iterable[str]) -> float:
        """Return the share of all weight of the words that occur among these, from 0 to 1."""
        if not self._total:
            return 0.0
        return min(sum(self._weight.get(word, 0.0) for word in set(words)) / self._total, 1.0)

    @property
    def said(self) -> int:
        """Number of words in all queries, counting only words still kept."""
        return self._count.total()

    @property
    def once(self) -> int:
        """Number of words that occurred exactly once."""
        return sum(count == 1 for count in self._count.values())

    @property
    def usual(self) -> float:
        """The similarity of a page with one word of the queries, drawn by weight; 0 without any.

        That is the sum of the squared shares.
        """
        return sum((weight / self._total) ** 2 for weight in self._weight.values()) if self._total else 0.0
