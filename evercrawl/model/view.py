"""The crawl's beliefs about its pages at one instant: the base of queries about importance, change and time."""

from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from evercrawl.config import FILE_NAME, Config, load
from evercrawl.errors import ConfigError
from evercrawl.model.boosts import Boosts
from evercrawl.model.columns import Columns
from evercrawl.model.error_bound import ErrorBound, error_bound
from evercrawl.model.expecting import Expecting, ExpectingColumns, expecting_of
from evercrawl.model.focus import Focusing, discovery_weight
from evercrawl.model.importance_view import ImportanceView
from evercrawl.model.policy.followed import followed
from evercrawl.model.policy.foresight import Foresight
from evercrawl.model.policy.lessons import Lessons
from evercrawl.model.policy.planning import Planning
from evercrawl.model.policy.policies import policy_of
from evercrawl.model.rates import NO_COPY, comebacks_of, deaths_of
from evercrawl.model.rules.scope import Scope
from evercrawl.model.rules.waits import again_at
from evercrawl.model.targets import Targets
from evercrawl.model.web.known_graph import KnownGraph
from evercrawl.model.web.mirrors import Mirrors
from evercrawl.model.worth.choice import weight_of
from evercrawl.model.worth.weights import ACCESS, IMPORTANCE
from evercrawl.schedule.abilities import Learns, Plans, Priced, Resumes, p_fresh, price_of
from evercrawl.schedule.base import Context, Policy, Surroundings
from evercrawl.schedule.pages import Pages
from evercrawl.store.partition import Partition
from evercrawl.store.records.retired import retired
from evercrawl.store.resuming import to_try
from evercrawl.store.table.table import NO_RECORD
from evercrawl.types import Floats, Slots

COMPETING_S: Final = 10.0
"""For so long holds what a visit is worth to pages, for who asks one instant after another."""


class CompetingPages(NamedTuple):
    """Pages that could be visited at an instant: unread ones, and those due for a refresh.

    Attributes
    ----------
    at
        The instant.
    value, host
        The worth of a visit by the policy, and the host; shape (n,).
    """

    at: float
    value: Floats
    host: Slots


class View(ImportanceView):
    """A read-only view by slot. Announcements since the last visits are known only to the running crawl.

    Parameters
    ----------
    partition
        The crawl; one opened for reading.
    config
        Its settings.
    now
        The instant of the view, in seconds since the epoch; the last event's instant if that is later.
    lessons
        The lessons of an earlier view of the crawl, updated with all events since, for the policy in the settings.

    Attributes
    ----------
    lessons
        The policy's lessons, once it is `believing`; None if it learns nothing.
    scheme, policy
        Those of the crawl; the policy with the price in the last snapshot.
    surroundings, context
        The policy's inputs beside columns, at any instant and at `now`.
    columns
        Slots -> `Pages`.
    focus, boosts
        The entries of the focus by page, None without a focus; and the boosts set by orders.
    targets
        Worth added to copies by targets, once `meet_targets` was called.
    """

    def __init__(self, partition: Partition, config: Config, now: float, lessons: Lessons | None = None) -> None:
        super().__init__(partition, config, now)
        self.boosts = Boosts(self.state)
        self.boosts.take(self.state.steered.boosts, self.now)
        self.focus = Focusing(self.state, config.focus, partition.journal.read) if config.focus else None
        self.targets = Targets(self.state, config.targets)
        self.lessons = lessons
        self.policy = policy_of(config.policy, config.policy_options, str(partition.directory / FILE_NAME))
        if lessons is not None:
            self.policy = cast("Policy", lessons.policy)  # which learns
        if isinstance(self.policy, Resumes):
            self.policy.resume(self.state.notes)
        self.surroundings = Surroundings(self.in_bytes, deaths_of(self.state).per_s)
        self._upto = partition.journal.sequence  # a running crawl goes on meanwhile; the state does not
        self._recalled = False
        self._foresight: Foresight | None = None
        self._expecting: Expecting | None = None
        self._competing: CompetingPages | None = None

    @cached_property
    def believing(self) -> Policy:
        """The policy with its lessons: those in the last snapshot, and those since; the crawl's own beliefs.

        Without saved lessons, it goes by the posteriors of rates until it is `informed`.
        """
        if isinstance(self.policy, Learns):
            lessons = self.lessons
            if lessons is None:
                lessons = Lessons(self.policy, self.partition, self._upto, anew=False, rest_s=self.config.delay_s)
            self.lessons, self._recalled = lessons, lessons.recalled
            self._foresight = lessons.foresight if lessons.recalled else None
        return self.policy

    @cached_property
    def informed(self) -> Policy:
        """The policy with everything learned from the visits, and a plan if it makes one.

        Without saved lessons, the whole journal is read once. The plan is that of the crawl's last instant: a plan as
        of now would start periods that the crawl has not started.
        """
        policy = self.believing
        if isinstance(policy, Learns) and not self._recalled:
            self._foresight = Lessons(policy, self.partition, self._upto, rest_s=self.config.delay_s).foresight
        if isinstance(policy, Plans):
            at = min(self.now, self.state.last_at())
            Planning(policy, self.state, self.candidates, self.surroundings).turn(at, len(to_try(self.state)[0]))
        return policy

    @cached_property
    def candidates(self) -> Columns:
        """Slots -> `Pages` as the crawl's policy sees them.

        They include the expected importance of unread pages and the focus weights. The whole journal is read if the
        policy needs all links.
        """
        return self._candidates(awaits=self.policy.awaits)

    @cached_property
    def awaited(self) -> Columns:
        """Slots -> `Pages` as the crawl's policy sees them, with the comeback rates of gone pages."""
        return self.candidates if self.policy.awaits else self._candidates(awaits=True)

    def _candidates(self, *, awaits: bool) -> Columns:
        needs, by_cash = self.policy.needs, self.state.accounts.focused
        return ExpectingColumns(
            self.expecting,
            *self._gathered,
            in_bytes=self.in_bytes,
            expecting=True,
            new_weight=1.0 if by_cash else discovery_weight(self.config.discovery),
            newcomers=self.config.newcomers,
            focus=None if by_cash else self.focus,
            known=KnownGraph(self.partition, needs) if needs else None,
            weight=weight_of(self.config.weight, self.partition, lasting=self.config.lasting),
            comebacks=comebacks_of(self.state) if awaits else None,
            boosts=self.boosts,
            targets=self.targets,
        )

    def expecting(self) -> Expecting | None:
        """Return the expectations of unread pages; None before the policy is `believing` or `informed`."""
        if self._expecting is None and self._foresight is not None:
            self._expecting = expecting_of(self.state, self.config, self.scheme, self._foresight)
        return self._expecting

    @cached_property
    def mirrors(self) -> Mirrors | None:
        """The hosts that are mirrors, by what was read of them; None if the crawl ignores mirrors."""
        return Mirrors(self.state) if self.config.spare_mirrors else None

    @cached_property
    def error_bound(self) -> ErrorBound:
        """The bound on the error of importance, as of the first access, which scans every page."""
        return error_bound(self.state, self.scheme)

    @cached_property
    def scope(self) -> Scope:
        """The scope of the crawl, with the hosts of its seeds and the number of known pages of each."""
        state = self.state
        columns = state.known.columns()
        pages = np.bincount(columns.host, minlength=len(state.hosts))

        def known(name: str) -> int:
            number = state.hosts.find(name)
            return int(pages[number]) if number is not None and number < len(pages) else 0

        scope = Scope(self.config, known)
        for name in state.steered.roots:
            scope.add_root(name)
        roots: list[int] = np.unique(columns.host[columns.depth == 0]).tolist()
        for number in roots:
            scope.add_root(state.hosts[number])
        return scope

    @property
    def weight(self) -> str:
        """The weight that sets the worth of pages, by its name; importance as long as nothing else is known."""
        name = self.config.weight
        return IMPORTANCE if name == ACCESS and not self.candidates.said_by_weight else name

    @property
    def price(self) -> float:
        """The price of a unit of the budget; nan if the policy has none or it is not known yet."""
        return price_of(self.policy)

    def competing(self) -> CompetingPages:
        """Return the worth of a visit to each page that could be visited now, or up to `COMPETING_S` ago."""
        kept = self._competing
        if kept is None or not kept.at <= self.now < kept.at + COMPETING_S:
            values, hosts = list[Floats](), list[Slots]()
            for slots in self.pieces():
                at = self.earliest_at(slots)
                could = np.isnan(at) | (at <= self.now)
                values.append(self.informed.value(self.candidates(slots[could]), self.context))
                hosts.append(self.state.known.rows(int(slots[0]), int(slots[-1]) + 1)["host"][could])
            kept = self._competing = CompetingPages(
                self.now, np.concatenate([np.empty(0), *values]), np.concatenate([np.empty(0, np.uint32), *hosts])
            )
        return kept

    def records(self, slots: Slots) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Return which pages have a record, shape (n,), and the records; those of the others are meaningless."""
        cells = self.state.table.record[slots]
        seen = (cells & np.uint32(NO_RECORD)) == 0
        return seen, self.state.records.rows[np.where(seen, cells, 0)]

    @property
    def context(self) -> Context:
        """The policy's inputs beside columns, as of `now`."""
        return self.surroundings(self.now)

    def fresh(self, pages: Pages) -> Floats:
        """Return the probability that the stored copy equals the live page, shape (n,); nan without a copy.

        It is the policy's own belief, by folder clocks or by rates alone. The copy of a gone page does not count as a
        copy.
        """
        seen, rows = self.records(pages.slot)
        held = seen & (rows["digest"] != 0) & ~np.isin(rows["outcome"], NO_COPY)
        return np.where(held, p_fresh(self.believing, pages, self.context), np.nan)

    def earliest_at(self, slots: Slots) -> Floats:
        """Return the earliest instant of the next visit to pages, shape (n,): infinity for retired ones.

        It is nan for pages never visited.
        """
        seen, rows = self.records(slots)
        at = again_at(self.state, rows["visited"], rows["misses"], self.config.refresh_after_s)
        return np.where(seen, np.where(retired(rows), np.inf, at), np.nan)

    def due_at(self, pages: Pages) -> Floats:
        """Return when visited pages fall due, shape (n,): infinity for never, nan if unknown.

        That is when a visit will be worth the price, or when the policy says that a page falls due, but not before
        `earliest_at`. For policies without instants it is `earliest_at` itself. Policies without a price may first
        have to read the whole journal, and then to plan; `pages` are as they see them, from `candidates`.
        """
        due_at = self.earliest_at(pages.slot)
        if isinstance(self.policy, Priced):
            if np.isnan(self.policy.price):
                return np.full(len(pages.slot), np.nan)
            policy: Policy = self.believing
        elif tells_instants(self.policy):
            policy = self.informed
        else:
            return due_at
        seen = np.flatnonzero(~np.isnan(due_at))
        due_at[seen] = np.maximum(policy.due(pages.take(seen), self.context), due_at[seen])
        return due_at


def tells_instants(policy: Policy) -> bool:
    """Return whether a policy knows when pages fall due; not if its queues are ordered by value.

    >>> tells_instants(policy_of("rpuc")), tells_instants(policy_of("greedy"))
    (True, False)
    """
    return type(policy).due is not Policy.due


def settings(directory: Path) -> tuple[Config, str]:
    """Return the crawl's settings, with the policy it follows; and a sentence if the defaults stand in for them."""
    file = directory / FILE_NAME
    try:
        return followed(directory, load(file) if file.is_file() else Config()), ""
    except (ConfigError, OSError) as error:
        return Config(), f"{error}; the default settings are used instead"
