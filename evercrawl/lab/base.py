"""What every experiment promises: a claim that was printed, made again, beside what was found. One file each."""

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
    """What an experiment is made with.

    Attributes
    ----------
    pages
        Of the web that is drawn; None for as many as the experiment is about.
    seed
        Decides everything that is drawn.
    kind
        Of the web: power-law, poisson, copying, bow-tie, sites, cooper-frieze; None for that, or those, it is about.
    graph
        A file of links to take in its place.
    turns
        How often each page is visited on the mean; None for as often as the experiment is about.
    budgets
        Visits a page and day, of a comparison of policies; none for those the experiment is about.
    policies
        Names of those that are compared, or of rows; none for all.
    jobs
        Runs at once, each in a process; makes no difference to what is found.
    kept
        A file that keeps single runs as they end, where an experiment consists of such; None for none.
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
        """Whether nobody asked for single budgets or rows."""
        return not self.budgets and not self.policies

    @property
    def as_printed(self) -> bool:
        """Whether the web is of the kind for which figures were printed or promised.

        >>> LabOptions().as_printed, LabOptions(kind="poisson").as_printed
        (True, False)
        """
        return self.graph is None and self.kind in (None, "power-law")

    def promised(self, pages: int, turns: int) -> bool:
        """Whether we promise anything of a web of so many pages, after so many turns: if they are as many as printed.

        >>> LabOptions().promised(100_000, 10), LabOptions().promised(1000, 10)
        (True, False)
        """
        return self.as_printed and pages >= _PRINTED_PAGES and turns >= _PRINTED_TURNS


class Claim(NamedTuple):
    """A sentence somebody printed, or that we promise, and what came of it.

    Attributes
    ----------
    claim, printed, found
        In words: the sentence, the figures that stand there ("" where there are none), those that were found.
    holds
        None where it could not be said.
    promised
        Whether we promise it of this very web: where it is refuted, the command ends with 1.
    partly
        Whether it holds in some of the cases that it speaks of, where it does not hold in all.
    """

    claim: str
    printed: str
    found: str
    holds: bool | None
    promised: bool = False
    partly: bool = False

    @property
    def verdict(self) -> str:
        """In a word.

        >>> Claim("Greed is good", "", "2.0 %", False).verdict
        'refuted'
        >>> judged("Greed is good", "", "2.0 % for 3.0 %, 4.0 % for 3.0 %", [True, False]).verdict
        'holds partly'
        """
        if self.holds is None:
            return "open"
        return "holds" if self.holds else "holds partly" if self.partly else "refuted"


def judged(claim: str, printed: str, found: str, cases: Sequence[bool]) -> Claim:
    """Return a claim that holds if it does in all of some cases, and partly if in some of them.

    >>> [judged("", "", "", cases).verdict for cases in ([True, True], [False, True], [False, False])]
    ['holds', 'holds partly', 'refuted']
    """
    return Claim(claim, printed, found, all(cases), partly=any(cases) and not all(cases))


class PanelCurve(NamedTuple):
    """One line of a panel; one of `ours` is drawn with emphasis."""

    label: str
    x: list[float]
    y: list[float]
    ours: bool = False


class Panel(NamedTuple):
    """One diagram.

    Attributes
    ----------
    title, x, y
        What it shows; what the axes show, with units.
    curves
        Its lines.
    log
        Whether the y axis is logarithmic.
    bars
        Whether each curve is a bar for each x rather than a line.
    percent
        Whether x is a percentage on a logarithmic axis.
    named
        What stands at x = 0, 1, 2 ..., where these are no numbers.
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
    """What came of an experiment.

    Attributes
    ----------
    rows
        All numbers, one observation a row, all rows with the same columns.
    claims
        What was claimed, beside what was found.
    panels
        The figure.
    title
        Of the figure.
    """

    title: str = ""
    rows: list[Row] = field(default_factory=list["Row"])
    claims: list[Claim] = field(default_factory=list[Claim])
    panels: list[Panel] = field(default_factory=list[Panel])

    @property
    def missed(self) -> bool:
        """Whether something that we promise was refuted."""
        return any(claim.promised and claim.holds is False for claim in self.claims)


class Experiment(ABC):
    """Something that was claimed, and how to see whether it is so.

    The name is that of the file; the first sentence of the class's docstring is what people are told of it.
    """

    pages: ClassVar[int] = 100_000
    """Pages of the web, where nobody asks for another number."""

    turns: ClassVar[int] = 10
    """Visits a page, where nobody asks for another number."""

    compares: ClassVar[bool] = False
    """Whether it is a comparison of policies by budget, of which single rows and budgets may be asked for."""

    @abstractmethod
    def run(self, options: LabOptions, say: Say) -> Results:
        """Make the experiment.

        Parameters
        ----------
        options
            As the person asked for it.
        say
            Takes a short sentence now and then about how far it has come.

        Raises
        ------
        evercrawl.errors.ConfigError
            When it cannot be made with these options.
        """
