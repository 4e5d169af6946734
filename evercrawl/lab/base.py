"""The interface of experiments: published claims, tested and compared with measurements."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeAlias

_PRINTED_PAGES = 100_000
_PRINTED_TURNS = 10

Row: TypeAlias = "dict[str, str | int | float]"
Say: TypeAlias = "Callable[[str], None]"


@dataclass(frozen=True, slots=True)
class LabOptions:
    """The options of an experiment.

    Attributes
    ----------
    pages
        Pages of the random graph; None for the experiment's own number.
    seed
        The random seed.
    kind
        Kind of graph: power-law, poisson, copying, bow-tie, sites, cooper-frieze; None for the experiment's own.
    graph
        A file of links to use instead.
    turns
        Visits per page on average; None for the experiment's own number.
    budgets
        Visits per page per day in a comparison of policies; empty for the experiment's own.
    policies
        Names of the policies or rows compared; empty for all.
    jobs
        Concurrent runs, each in a process; does not affect results.
    kept
        A file that stores completed runs, for experiments that consist of several; None for no file.
    """

    pages: int | None = None
    seed: int = 1
    kind: str | None = None
    graph: Path | None = None
    turns: int | None = None
    budgets: tuple[float, ...] = ()
    policies: tuple[str, ...] = ()
    jobs: int = 1
    kept: Path | None = None

    @property
    def whole(self) -> bool:
        """Whether the experiment runs with all its budgets and rows."""
        return not self.budgets and not self.policies

    @property
    def as_printed(self) -> bool:
        """Whether the graph is of the kind of the published and promised figures.

        >>> LabOptions().as_printed, LabOptions(kind="poisson").as_printed
        (True, False)
        """
        return self.graph is None and self.kind in (None, "power-law")

    def promised(self, pages: int, turns: int) -> bool:
        """Return whether our promises cover a graph of that many pages and turns: at least as many as published.

        >>> LabOptions().promised(100_000, 10), LabOptions().promised(1000, 10)
        (True, False)
        """
        return self.as_printed and pages >= _PRINTED_PAGES and turns >= _PRINTED_TURNS


class Claim(NamedTuple):
    """A published claim, or a promise of ours, with the result of the test.

    Attributes
    ----------
    claim, printed, found
        In words: the claim, the published figures ("" without any), and the measured figures.
    holds
        Whether the claim holds; None if it could not be decided.
    promised
        Whether we promise it for this graph: if refuted, the command exits with status 1.
    partly
        Whether it holds in some but not all of its cases.
    """

    claim: str
    printed: str
    found: str
    holds: bool | None
    promised: bool = False
    partly: bool = False

    @property
    def verdict(self) -> str:
        """The verdict: `holds`, `holds partly`, `refuted` or `open`.

        >>> Claim("Greed is good", "", "2.0 %", False).verdict
        'refuted'
        >>> judged("Greed is good", "", "2.0 % for 3.0 %, 4.0 % for 3.0 %", [True, False]).verdict
        'holds partly'
        """
        if self.holds is None:
            return "open"
        return "holds" if self.holds else "holds partly" if self.partly else "refuted"


def judged(claim: str, printed: str, found: str, cases: Sequence[bool]) -> Claim:
    """Return a claim that holds if all cases do, and partly if only some do.

    >>> [judged("", "", "", cases).verdict for cases in ([True, True], [False, True], [False, False])]
    ['holds', 'holds partly', 'refuted']
    """
    return Claim(claim, printed, found, all(cases), partly=any(cases) and not all(cases))


class PanelCurve(NamedTuple):
    """One curve of a panel; one of `ours` is emphasised."""

    label: str
    x: list[float]
    y: list[float]
    ours: bool = False


class Panel(NamedTuple):
    """One diagram.

    Attributes
    ----------
    title, x, y
        The title; the axis labels, with units.
    curves
        Its lines.
    log
        Whether the y axis is logarithmic.
    bars
        Whether curves are drawn as bars rather than lines.
    percent
        Whether x is a percentage on a logarithmic axis.
    named
        Labels at x = 0, 1, 2 ..., for categorical axes.
    """

    title: str
    x: str
    y: str
    curves: list[PanelCurve]
    log: bool = False
    bars: bool = False
    percent: bool = False
    named: tuple[str, ...] = ()


@dataclass(slots=True)
class Results:
    """The results of an experiment.

    Attributes
    ----------
    rows
        All numbers, one observation per row, with the same columns.
    claims
        The claims with the findings.
    panels
        The figure.
    title
        The title of the figure.
    """

    title: str = ""
    rows: list[Row] = field(default_factory=list["Row"])
    claims: list[Claim] = field(default_factory=list[Claim])
    panels: list[Panel] = field(default_factory=list[Panel])

    @property
    def missed(self) -> bool:
        """Whether one of our promises was refuted."""
        return any(claim.promised and claim.holds is False for claim in self.claims)


class Experiment(ABC):
    """A test of published claims.

    The name of an experiment is that of its file. The first sentence of the class's docstring describes it to users.
    """

    pages: ClassVar[int] = 100_000
    """Default number of pages of the web."""

    turns: ClassVar[int] = 10
    """Default number of visits per page."""

    compares: ClassVar[bool] = False
    """Whether it is a comparison of policies by budget, which can be limited to single rows and budgets."""

    @abstractmethod
    def run(self, options: LabOptions, say: Say) -> Results:
        """Run the experiment.

        Parameters
        ----------
        options
            The options given by the user.
        say
            Progress callback, called with a short sentence.

        Raises
        ------
        evercrawl.errors.ConfigError
            It cannot be run with these options.
        """
