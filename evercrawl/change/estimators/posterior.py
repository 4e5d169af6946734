"""The Gamma posterior of `gamma`, for many pages at once, as an estimator."""

from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike

from evercrawl.change import gamma
from evercrawl.change.estimators.base import Estimator
from evercrawl.types import Flags, Floats, Ints

_SHAPE: Final = 0.4
_SCALE_S: Final = 4 * 86_400.0


class Posterior(Estimator):
    """The posterior of each rate, Gamma(shape, scale_s); the estimate is its mean.

    Parameters
    ----------
    pages
        Number of pages.
    shape, scale_s
        The prior; one for all pages, or one per page.
    forgetting_per_s
        phi: evidence t seconds old is multiplied by e^(-phi t); 0 for constant rates.

    Examples
    --------
    >>> pages = Posterior(2, shape=0.5, scale_s=10.0)
    >>> pages.learn(np.array([0]), np.array([10.0]), np.array([True]), np.array([5.0]))
    >>> pages.rates()
    array([0.1 , 0.05])
    """

    columns: ClassVar[tuple[str, ...]] = ("_more", "_more_s")

    def __init__(
        self, pages: int, shape: ArrayLike = _SHAPE, scale_s: ArrayLike = _SCALE_S, forgetting_per_s: float = 0.0
    ) -> None:
        super().__init__(pages)
        self._shape, self._scale_s = (np.broadcast_to(np.asarray(of, np.float64), pages) for of in (shape, scale_s))
        self._forgetting_per_s = forgetting_per_s
        self._more, self._more_s = np.zeros(pages), np.zeros(pages)

    def grow(self, pages: int) -> None:
        """Make room for more pages; their prior is that of the last page."""
        more = pages - self.pages
        self._shape, self._scale_s = (np.append(of, np.repeat(of[-1:], more)) for of in (self._shape, self._scale_s))
        super().grow(pages)

    @property
    def shape(self) -> Floats:
        """Shape a of each posterior, shape (pages,)."""
        return self._shape + self._more

    @property
    def scale_s(self) -> Floats:
        """Rate parameter b of each posterior, in seconds, shape (pages,)."""
        return self._scale_s + self._more_s

    def learn(self, rows: Ints, interval_s: Floats, changed: Flags, age_s: Floats | None = None) -> None:
        """Discount the evidence, and add that of each visit."""
        kept = np.exp(-self._forgetting_per_s * interval_s)
        prior = self._shape[rows], self._scale_s[rows]
        self._more[rows], self._more_s[rows] = gamma.learn_evidence_many(
            kept * self._more[rows], kept * self._more_s[rows], prior, interval_s, changed, age_s
        )

    def rates(self) -> Floats:
        """Return the mean of each posterior."""
        return self.shape / self.scale_s
