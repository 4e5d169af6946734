"""The parts of a crawl: each is made here, once, with the parts that it depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evercrawl.config.proxies import proxies_of
from evercrawl.crawl.aiming import Aiming
from evercrawl.crawl.enforcing import Enforcing
from evercrawl.crawl.hearing import Hearing
from evercrawl.crawl.learn.cash import Cashier
from evercrawl.crawl.learn.changes import Changes
from evercrawl.crawl.learn.crowded_pages import CrowdedPages
from evercrawl.crawl.learn.indexing import Indexing
from evercrawl.crawl.learn.learning import learner_of
from evercrawl.crawl.learn.settling import Settling
from evercrawl.crawl.learn.virtual_turns import VirtualTurns
from evercrawl.crawl.orders.checks import Checks
from evercrawl.crawl.orders.deeds import Deeds
from evercrawl.crawl.orders.obeying import Obeying
from evercrawl.crawl.orders.tuning import Tuning, own_delay
from evercrawl.crawl.pace import Leisure, Pace
from evercrawl.crawl.probes.probes import Probes
from evercrawl.crawl.probes.random_probes import RandomProbes
from evercrawl.crawl.sitemaps.sitemaps import Sitemaps
from evercrawl.crawl.storing import Storing
from evercrawl.crawl.telling import Telling
from evercrawl.crawl.visit.access import Access
from evercrawl.crawl.visit.head_checks import HeadChecks
from evercrawl.crawl.visit.parsers import Inline
from evercrawl.crawl.visit.silences import Silences
from evercrawl.crawl.visit.site_costs import SiteCosts
from evercrawl.crawl.visit.tdm_policies import TdmPolicies
from evercrawl.crawl.visit.visiting import Visiting
from evercrawl.fetch.names import LookUps
from evercrawl.fetch.proxies import looks_up
from evercrawl.model.boosts import Boosts
from evercrawl.model.columns import Columns, counts_bytes
from evercrawl.model.expecting import expecting_of
from evercrawl.model.focus import Focusing, discovery_weight
from evercrawl.model.notices import AnnouncedDates
from evercrawl.model.policy.lessons import PATIENCE_S, Lessons
from evercrawl.model.policy.planning import Planning
from evercrawl.model.rules.barred import Barred
from evercrawl.model.rules.budgets import Budgets
from evercrawl.model.rules.scope import Scope
from evercrawl.model.targets import Targets
from evercrawl.model.web.known_graph import KnownGraph
from evercrawl.model.web.mirrors import Mirrors
from evercrawl.model.worth.choice import weight_of
from evercrawl.parse.sites import site
from evercrawl.parse.urls import hostname
from evercrawl.schedule.abilities import Learns, Plans, Resumes
from evercrawl.schedule.base import Surroundings
from evercrawl.schedule.frontier.frontier import Frontier
from evercrawl.search.anchors import Anchors

if TYPE_CHECKING:
    from collections.abc import Callable

    from evercrawl.config import Config
    from evercrawl.crawl.learn.learning import Learner
    from evercrawl.crawl.memory import Memory
    from evercrawl.crawl.ports import Outside
    from evercrawl.crawl.posting.room import PostRoom
    from evercrawl.crawl.posting.second_copy import SecondCopy
    from evercrawl.crawl.rendering.errands import Errands
    from evercrawl.crawl.rendering.rendering import Rendering
    from evercrawl.crawl.requisites.requisites import Requisites
    from evercrawl.importance.base import Importance
    from evercrawl.schedule.base import Policy
    from evercrawl.schedule.frontier.hosts import Host
    from evercrawl.store.partition import Partition

PROBE_BYTES: Final = 1 << 20  # of an answer to a path that cannot exist


class Choosing:
    """The parts that decide which page comes next, and their inputs.

    Parameters
    ----------
    partition, config, policy
        The crawl's state, the settings, and the policy.
    scheme
        The scheme of importance.
    barred
        The pages that the scope excludes.

    Attributes
    ----------
    changes, columns, known, weight
        The beliefs on change; the policy's columns; the link graph and the weight of pages, None if not asked for.
    surroundings, boosts
        The policy's context beside the columns; the active boosts.
    expecting
        The expected value of unread pages, learned from read ones; None if it is not learned.
    lessons, planning
        Pass visits to the policy, and show it all pages; None if the policy does not learn or plan.
    frontier, random_probes
        The queues of pages; the random samples of copies.
    aiming
        Meets the targets of freshness.
    """

    def __init__(
        self, partition: Partition, config: Config, policy: Policy, scheme: Importance, barred: Barred
    ) -> None:
        state = partition.state
        notices = AnnouncedDates(state.accounts)
        self.changes = changes = Changes(state, notices)
        if isinstance(policy, Resumes):
            policy.resume(state.notes)
        self.surroundings = Surroundings(counts_bytes(config))
        self.known = known = KnownGraph(partition, policy.needs) if policy.needs else None
        soon_s = min(PATIENCE_S, config.refresh_after_s)  # the policy learns of a visit before its page is due again
        self.lessons = (
            Lessons(policy, partition, patience_s=soon_s, rest_s=config.delay_s) if isinstance(policy, Learns) else None
        )
        self.expecting = expecting_of(state, config, scheme, self.lessons.foresight if self.lessons else None)
        self.weight = weight_of(config.weight, partition, lasting=config.lasting)
        by_cash = state.accounts.focused
        self.boosts, targets = Boosts(state), Targets(state, config.targets)
        self.columns = Columns(
            state,
            scheme,
            changes.priors,
            notices,
            in_bytes=counts_bytes(config),
            expecting=True,
            new_weight=1.0 if by_cash else discovery_weight(config.discovery),
            focus=Focusing(state, config.focus, partition.journal.read) if config.focus and not by_cash else None,
            known=known,
            newcomers=config.newcomers,
            weight=self.weight,
            comebacks=changes.comebacks if policy.awaits else None,
            boosts=self.boosts,
            targets=targets,
        )
        self.planning = Planning(policy, state, self.columns, self.surroundings) if isinstance(policy, Plans) else None
        self.frontier = Frontier(
            policy,
            self.columns,
            state.visited_at,
            delay_s=config.delay_s,
            connections_per_host=config.connections_per_host,
            connections_per_ip=config.connections_per_ip,
            ip_delay_s=config.delay_s / config.connections_per_ip,
            refresh_after_s=config.refresh_after_s,
            weighed=self.weight is not None,
            surroundings=self.surroundings,
            names=state.hosts,
            own_delay=own_delay(config) if config.sites else None,
            expecting=self.expecting,
        )
        self.aiming = Aiming(state, targets, self.columns, self.frontier, policy, config)
        self.random_probes = RandomProbes(
            partition,
            self.frontier,
            policy,
            self.columns,
            Columns(state, scheme, changes.priors, notices, in_bytes=False),
            self.surroundings,
            share=config.probe_share,
            refresh_after_s=config.refresh_after_s,
            tell=self.lessons.flush if self.lessons is not None else lambda: None,
            barred=barred,
        )


class Parts:
    """The parts of one crawl, put together; each part is described in its own file.

    Parameters
    ----------
    config, memory, outside
        As for `assemble`.
    policy, scheme
        The policy, and the scheme of importance.
    unreachable
        Called with a host whose name has no usable address, and the reason, when a page of it is requested.
    """

    def __init__(
        self,
        config: Config,
        memory: Memory,
        outside: Outside,
        policy: Policy,
        scheme: Importance,
        unreachable: Callable[[Host, str], None],
    ) -> None:
        partition, network, clock = memory.partition, outside.network, outside.clock
        state = partition.state
        self._state = state
        self.scope = scope = Scope(config, self._pages_of)
        barred = Barred(state, scope)
        self.choosing = choosing = Choosing(partition, config, policy, scheme, barred)
        self._frontier = frontier = choosing.frontier
        self.enforcing = Enforcing(
            partition,
            scope,
            barred,
            frontier,
            refresh_after_s=config.refresh_after_s,
            in_order=policy.in_order,
        )
        budgets = Budgets(state, config)
        mirrors = Mirrors(state) if config.spare_mirrors else None
        cashier = Cashier(state, scheme)
        self.virtual_turns = VirtualTurns(partition, config.discovery, config.focus, barred)
        self.settling = Settling(partition, cashier) if scheme.settles else None
        self.storing = Storing(
            partition,
            clock,
            outside.offload,
            network.wake,
            disk_wait_s=config.disk_wait_s,
            snapshot_every_s=config.snapshot_every_s,
            also=choosing.lessons.save if choosing.lessons is not None else None,
            before=outside.before_commit,
            second=_second(partition, outside),
        )
        self.indexing = indexing = _indexing(config, memory, outside)
        if indexing is not None:
            indexing.connect(self.storing.settle, network.wake)
        lookups = LookUps(
            outside.names,
            memory.names,
            clock,
            site,
            at_once=config.lookups,
            listed=outside.listed,
            offload=outside.offload,
            changed=network.wake,
        )
        self.silences = Silences(network, config.connections)
        self.access = Access(
            frontier,
            memory.robots,
            outside.guard,
            network,
            lookups,
            clock,
            self.host_of,
            unreachable,
            silences=self.silences,
            quarantine=memory.quarantine,
            proxied=bool(config.proxy) and looks_up(proxies_of(config.proxy)),
            delay_s=config.delay_s,
            sites=config.sites,
            both_families=config.happy_eyeballs_s > 0 and not config.proxy,
        )
        self.probes = Probes(
            state,
            memory.soft404,
            frontier,
            self.access,
            network,
            self.host_of,
            partition.random,
            quarantine=memory.quarantine,
            deadline_s=config.exchange_deadline_s,
            max_bytes=min(config.body_max_bytes, PROBE_BYTES),
            scope=scope,
        )
        self.checks = Checks(partition, frontier, barred, memory.quarantine)
        self.crowded_pages = CrowdedPages(partition, budgets, frontier, barred, memory.quarantine)
        self.pace = Pace(config.rate_per_s, config.rate_bytes_per_s)
        self.leisure = Leisure(clock.now(), network.idle_s)
        self.costs = SiteCosts(state.site_of, clock, self.pace, self.leisure)
        beside = config.render != "never" or config.tdmrep or memory.requisites is not None
        self.errands = _errands(config, self, memory, outside) if beside else None
        self.requisites = (
            _requisites(config, self, memory, outside, frontier) if memory.requisites is not None else None
        )
        self.learner = learner_of(
            partition,
            frontier,
            self.scope,
            cashier,
            choosing.changes,
            budgets=budgets,
            known=choosing.known,
            expecting=choosing.expecting,
            mirrors=mirrors,
            lessons=choosing.lessons,
            probes=self.probes,
            indexing=indexing,
            random_probes=choosing.random_probes,
            heard=outside.heard,
            checks=self.checks,
            crowded_pages=self.crowded_pages,
            weighing=choosing.weight.listener if choosing.weight is not None else None,
            requisites=self.requisites,
            costs=self.costs,
            virtual_turns=self.virtual_turns,
            focus=config.focus,
            max_redirects=config.max_redirects,
            refresh_after_s=config.refresh_after_s,
        )
        self.sitemaps = Sitemaps(
            self.learner,
            frontier,
            memory.robots,
            self.access,
            network,
            self.host_of,
            memory.sitemaps,
            quarantine=memory.quarantine,
            deadline_s=config.exchange_deadline_s,
            stored_until=state.last_at(),
            scope=scope,
        )
        self.posting = _posting(config, partition, self.learner, self.storing, outside, frontier, choosing.changes)
        self.access.leases = self.posting.leases if self.posting is not None else None
        if outside.post is not None:
            self.access.may_fetch = outside.post.may_fetch
        text = indexing is not None or config.looks_for_words or "facts" in policy.needs
        self.parsers = (
            outside.readers(text, partition.hasher)
            if outside.readers is not None
            else Inline(config.product_token, partition.hasher, text=text, requisites=config.requisites)
        )
        self.rendering = _rendering(config, self, memory, outside) if config.render != "never" else None
        self.tdm = TdmPolicies(self.errands, frontier, clock, network.wake) if config.tdmrep and self.errands else None
        self.visiting = Visiting(
            partition,
            config,
            frontier,
            self.access,
            planning=choosing.planning,
            random_probes=choosing.random_probes,
            mirrors=mirrors,
            heads=HeadChecks(policy),
            soft404=memory.soft404,
            sitemaps=self.sitemaps,
            pace=self.pace,
            costs=self.costs,
            parsers=self.parsers,
            storing=self.storing,
            quarantine=memory.quarantine,
            enforcing=self.enforcing,
            checks=self.checks,
            crowded_pages=self.crowded_pages,
            rendering=self.rendering,
            tdm=self.tdm,
        )
        self.telling = Telling(
            state,
            self.learner.tally,
            frontier,
            network,
            self.pace,
            budgets,
            self.access,
            self.silences,
            self.sitemaps,
            self.storing,
            self.parsers,
            indexing,
            begun_at=clock.now(),
            room=outside.room,
            random_probes=choosing.random_probes,
            rendering=self.rendering,
        )

        self._steer(partition, config, outside, policy, barred)

    def _steer(self, partition: Partition, config: Config, outside: Outside, policy: Policy, barred: Barred) -> None:
        """Assemble the parts that carry out orders."""
        frontier = self._frontier
        self.tuning = Tuning(
            config,
            self.scope,
            self.pace,
            frontier,
            policy,
            (self.visiting, self.access, self.choosing.aiming),
            outside.sessions,
        )
        self.obeying = Obeying(
            partition,
            outside.orders,
            Deeds(self._state, frontier, barred, self.tuning, self.checks, self.learner),
            self.checks,
            self.choosing.boosts,
            frontier,
            self.learner.named,
            outside.amend,
            outside.offload,
            outside.network.wake,
            forgets=outside.forgets,
        )
        self.hearing = Hearing(outside.signals, self.learner.admit_listing)

    def host_of(self, name: str) -> Host | None:
        """Return a host by its name; None if it is not known."""
        number = self._state.hosts.find(name)
        return self._frontier.hosts[number] if number is not None else None

    def _pages_of(self, name: str) -> int:
        number = self._state.hosts.find(name)
        return self._frontier.pages_of(number) if number is not None else 0


def _second(partition: Partition, outside: Outside) -> SecondCopy | None:
    """Return the part that keeps a second copy on another disk; None if none is asked for."""
    if outside.keeper is None:
        return None
    assert outside.post is not None
    assert partition.state.post is not None, "a crawl of one partition has no keeper"
    from evercrawl.crawl.posting.second_copy import SecondCopy

    share = partition.state.post.ownership.share
    return SecondCopy(partition.disk, share, outside.post.incarnation, outside.keeper, outside.clock, outside.offload)


def _posting(
    config: Config,
    partition: Partition,
    learner: Learner,
    storing: Storing,
    outside: Outside,
    frontier: Frontier,
    changes: Changes,
) -> PostRoom | None:
    """Return the part that answers messages of other partitions; None if there are no others."""
    if outside.post is None:
        return None
    from evercrawl.crawl.posting.room import PostRoom

    return PostRoom(
        partition, learner, storing, outside.post, config, frontier.under_way, frontier.open_address, changes
    )


def _rendering(config: Config, parts: Parts, memory: Memory, outside: Outside) -> Rendering:
    """Return the part that has pages rendered in a browser."""
    from evercrawl.crawl.rendering.rendering import Rendering
    from evercrawl.crawl.rendering.worth import RenderWorth

    assert parts.errands is not None, "something fetches what a browser asks for"
    barred, worth = _barred_beside(parts.scope, memory.partition), RenderWorth(config.render, memory.partition.state)
    return Rendering(config, parts.errands, barred, worth, outside.network.wake)


def _errands(config: Config, parts: Parts, memory: Memory, outside: Outside) -> Errands:
    """Return the part that fetches what pages request beside themselves."""
    from evercrawl.crawl.rendering.errands import Errands

    return Errands(parts.access, memory.robots, outside.clock, parts.pace, config)


def _requisites(config: Config, parts: Parts, memory: Memory, outside: Outside, frontier: Frontier) -> Requisites:
    """Return the part that fetches the requisites of pages."""
    from evercrawl.crawl.requisites.requisites import Requisites

    assert parts.errands is not None, "something fetches"
    assert memory.requisites is not None, "something remembers"
    partition = memory.partition
    return Requisites(
        config, partition, memory.requisites, parts.errands, _barred_beside(parts.scope, partition),
        _burdens(frontier, partition), memory.quarantine.judging, outside.clock, outside.offload, parts.storing,
        outside.network.wake,
    )  # fmt: skip


def _burdens(frontier: Frontier, partition: Partition) -> Callable[[str, int], bool]:
    """Return a function that says whether a requisite is on a host with pages, and a page of another site needs it."""
    state = partition.state

    def burdens(host: str, root: int) -> bool:
        number = state.hosts.find(host)
        if number is None or not sum(count.item(0) for count in frontier.queued_on(number, number + 1)):
            return False
        return state.site_of.item(number) != state.site_of.item(int(state.known.row(root)["host"]))

    return burdens


def _barred_beside(scope: Scope, partition: Partition) -> Callable[[str], str]:
    """Return a function that says why a URL that is no page is never requested; "" if it may be."""
    state = partition.state

    def barred(url: str) -> str:
        if state.forgotten and state.forgotten.has_url(state.hasher, url, hostname(url)):
            return "it was forgotten"
        return scope.excludes(url)

    return barred


def _indexing(config: Config, memory: Memory, outside: Outside) -> Indexing | None:
    """Return the part that keeps the search index in step; None if there is no index."""
    if memory.index is None:
        return None
    committing = outside.committing or outside.offload
    return Indexing(memory.index, Anchors(), memory.partition, outside.clock, committing, every_s=config.index_every_s)
