"""The parameters of RPUC and their valid values; omitted parameters are fitted."""

from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from evercrawl.errors import ConfigError
from evercrawl.schedule.parameters import Annotated, Misses, Share, choice, duration, hold, number, seconds
from evercrawl.schedule.policies.rpuc.fit import fit, group_rates
from evercrawl.schedule.policies.rpuc.scale import SCALES
from evercrawl.schedule.policies.rpuc.types import COMPONENTS, Types, components, queue
from evercrawl.types import Floats

_USUAL: Final = 5
_ROWS: Final = 'rows of matrix are separated by semicolons, as in "0,.75,.25,0; 0,.5,.5,0" for two types'


@dataclass(frozen=True, slots=True)
class RpucOptions:
    """The parameters described in `rpuc.Rpuc`.

    Raises
    ------
    ConfigError
        A value cannot be parsed, is out of range, or does not fit the others.
    """

    types: Annotated[int, number(1, 64)] = 5
    matrix: str = ""
    thresholds: str = ""
    periods: str = ""
    scale: Annotated[str, choice(*SCALES)] = "log"
    validity: Annotated[str, choice("get", "head")] = "get"
    demand: Share = 0.25
    drop_after: Misses = 3
    new_share: Share = 0.5

    def __post_init__(self) -> None:
        hold("rpuc", RpucOptions, asdict(self))
        if int(self.types) not in (_USUAL, self.count):
            raise ConfigError(
                f"rpuc: types is {self.types:g}, but {self._counted}; set equal numbers, or leave out types"
            )
        self._check_count("thresholds", len(self.given_thresholds()))
        self._check_count("periods", len(self.given_periods_s()))
        if self.thresholds and not self.matrix:
            raise ConfigError("rpuc: thresholds need a matrix; set a matrix too, or leave out both to fit them")

    @property
    def count(self) -> int:
        """The number of types: given directly, or by the rows of the matrix or the number of periods."""
        return len(self.given_matrix()) or len(self.given_periods_s()) or int(self.types)

    def given_matrix(self) -> Floats:
        """Return the given matrix, shape (types, 4); shape (0, 4) without one."""
        rows = [_numbers("matrix", row) for row in self.matrix.split(";")] if self.matrix else []
        if any(len(row) != len(COMPONENTS) for row in rows):
            raise ConfigError(
                "rpuc: a row of matrix has four numbers, separated by commas, for R, P, U and C; " + _ROWS
            )
        return np.array(rows, np.float64).reshape(-1, len(COMPONENTS))

    def given_thresholds(self) -> Floats:
        """Return the given thresholds, shape (types,) or (0,)."""
        return np.array(_numbers("thresholds", self.thresholds) if self.thresholds else [], np.float64)

    def given_periods_s(self) -> Floats:
        """Return the given periods, in seconds, shape (types,) or (0,)."""
        return np.array([self._seconds(one) for one in self.periods.split(",") if self.periods], np.float64)

    @staticmethod
    def _seconds(period: str) -> float:
        try:
            return seconds(period)
        except ValueError as error:
            raise ConfigError(f"rpuc: periods must be {duration().form} each, not {period!r}") from error

    def types_of(self, scaled: Floats, weight: Floats, rate_per_s: Floats, budget_per_s: float) -> Types:
        """Return the types, fitting the parts that are not given; parameters as for `fit.fit`."""
        matrix, periods_s = self.given_matrix(), self.given_periods_s()
        if not len(matrix):
            found = fit(scaled, weight, rate_per_s, budget_per_s, self.count)
            return found._replace(periods_s=np.sort(periods_s)) if len(periods_s) else found  # fastest types first
        scores = components(matrix, scaled)
        thresholds = self.given_thresholds()
        if not len(thresholds):
            order = periods_s.argsort(kind="stable").argsort() if len(periods_s) else np.arange(self.count)
            thresholds = np.diagonal(np.quantile(scores, 1.0 - (order + 1.0) / self.count, axis=0))
        if not len(periods_s):
            group = queue(scores, thresholds, np.arange(self.count, dtype=np.float64))
            periods_s = 1.0 / group_rates(weight, rate_per_s, group, self.count, budget_per_s)[0]
        return Types(matrix, thresholds, periods_s)

    def _check_count(self, name: str, count: int) -> None:
        if count not in (0, self.count):
            raise ConfigError(f"rpuc: {_many(count, name)} given, but {self._counted}; set one per type, or none")

    @property
    def _counted(self) -> str:
        """The number of types and its origin, for error messages."""
        types = _many(self.count, "types")
        if rows := len(self.given_matrix()):
            return f"matrix has {_many(rows, 'rows')}, which makes {types} ({_ROWS})"
        if periods := len(self.given_periods_s()):
            return f"{_many(periods, 'periods')} given, which makes {types}"
        return f"there are {types}"


def _many(count: int, nouns: str) -> str:
    return f"{count} {nouns if count > 1 else nouns.removesuffix('s')}"


def _numbers(name: str, written: str) -> list[float]:
    try:
        found = [float(each) for each in written.split(",")]
    except ValueError:
        found = [np.nan]
    if not np.isfinite(found).all():
        raise ConfigError(f'rpuc: {name} must be numbers separated by commas, such as "0.8, 0.4", not {written!r}')
    return found
