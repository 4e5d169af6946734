"""The logarithm with a constant that removes the first-order bias."""

from evercrawl.change.estimators.log_corrected import LogCorrected


class LogExact(LogCorrected):
    """The logarithm with `log_corrected.exact_constant` added instead of half a visit.

    Examples
    --------
    >>> import numpy as np
    >>> pages = LogExact(1)
    >>> pages.learn(np.array([0]), np.array([10.0]), np.array([True]))
    >>> pages.rates().round(6) * 10  # ln (1 + (e - 1))
    array([1.])

    References
    ----------
    Meng, Wang, Yan (2006), (14), corrected: it is 1 / (e^(1/n) - 1) - n + 1.
    """

    def __init__(self, pages: int) -> None:
        super().__init__(pages, exact=True)
