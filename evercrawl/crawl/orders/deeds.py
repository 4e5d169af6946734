"""The effect of each kind of order: a function from the order to a `Deed`.

Everything that must survive a restart is in the deed, and so in the event that is journalled next. Beside that, a
function may change only what each start derives from the journal and the settings: queues, scope rules, the pace.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from evercrawl.config import SETTINGS, Config, as_written
from evercrawl.config.section_keys import SectionKey, section_key, value_in, with_value
from evercrawl.config.settings import read
from evercrawl.crawl.orders.checks import MOST as MOST_CHECKS
from evercrawl.crawl.orders.deed import Deed, refused
from evercrawl.errors import ConfigError
from evercrawl.model.boosts import MOST as MOST_BOOSTS
from evercrawl.parse.urls import hostname, normalise
from evercrawl.store.journal.events import Boost
from evercrawl.store.state import IN_VAIN
from evercrawl.store.steering import BEGUN
from evercrawl.types import NO_SLOT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evercrawl.crawl.learn.learning import Learner
    from evercrawl.crawl.orders.checks import Checks
    from evercrawl.crawl.orders.tuning import Tuning
    from evercrawl.model.rules.barred import Barred
    from evercrawl.schedule.frontier.frontier import Frontier
    from evercrawl.store.orders import CrawlOrder
    from evercrawl.store.state import State

LEAST_FACTOR, MOST_FACTOR = 1e-3, 1e3
PATTERN_CHARACTERS: Final = 2000
_UNKNOWN: Final = "{} is not known to the crawl; name it with: evercrawl add {}"


class Deeds:
    """Carries out orders.

    Parameters
    ----------
    state, frontier, barred
        The known pages, their queues, and the pages that the rules exclude.
    tuning
        The settings of the run, and the parts that use them.
    checks
        Pages to be requested because of an order.
    learner
        Makes URLs known.
    """

    def __init__(
        self,
        state: State,
        frontier: Frontier,
        barred: Barred,
        tuning: Tuning,
        checks: Checks,
        learner: Learner,
    ) -> None:
        self._state, self._frontier, self._barred = state, frontier, barred
        self._tuning, self._checks, self._learner = tuning, checks, learner
        self._kinds: Mapping[str, Callable[[CrawlOrder, float], Deed]] = {
            "seed": self._seed,
            "check": self._check,
            "pause": self._pause,
            "resume": self._resume,
            "exclude": self._rule,
            "include": self._rule,
            "boost": self._boost,
            "set": self._set,
        }

    def change_of(self, order: CrawlOrder) -> Deed | None:
        """Return the change that an order makes to crawl.toml, or why it is refused; None if it changes no setting.

        Nothing is changed yet.
        """
        try:
            if order.do in ("exclude", "include"):
                return self._rule_change(order)
            return self._set_change(order) if order.do == "set" else None
        except ConfigError as error:
            return refused(str(error))

    def do(self, order: CrawlOrder, now: float) -> Deed:
        """Carry out an order, or return why it is refused."""
        kind = self._kinds.get(order.do)
        if kind is None:
            known = ", ".join(self._kinds)
            return refused(f"this version of evercrawl does not know the order {order.do[:40]!r}; it obeys {known}")
        try:
            return kind(order, now)
        except ConfigError as error:
            return refused(str(error))

    # Pages

    def _seed(self, order: CrawlOrder, now: float) -> Deed:
        wanted, known, out = list[str](), list[str](), list[str]()
        for text in dict.fromkeys(order.urls):
            url = normalise(text)
            if url is None:
                out.append(f"{text[:200]!r} is not an http or https URL")
            elif self._state.forgotten.has_url(self._state.hasher, url, hostname(url)):
                out.append(f"{url} was forgotten and is never requested again")
            elif rule := self._tuning.scope.excludes(url):
                out.append(f"{url} is kept out by {rule}; lift that first")
            else:
                (known if self._slot(url) != NO_SLOT else wanted).append(url)
        if not wanted and not known:
            return refused("; ".join(out) or "it names no URL")
        root = self._rooted(known)
        again = self._again(known)
        found = self._learner.named_by_people(wanted, now) if wanted else None
        added = [f"{len(wanted)} added"] if wanted else []
        tried = f", {again} of them to be tried again now" if again else ""
        there = [f"{len(known)} known already{tried}"] if known else []
        return Deed("; ".join([*added, *there, *out]), found=found, root=root)

    def _rooted(self, known: Sequence[str]) -> str:
        """Add the host of the first known page outside the scope to it; return the host. New pages add theirs."""
        scope = self._tuning.scope
        host = next((hostname(url) for url in known if not scope.holds(hostname(url))), "")
        if host:
            scope.add_root(host)
        return host

    def _again(self, known: Sequence[str]) -> int:
        """Queue pages whose last visits failed for another try now; return their number."""
        count = 0
        for url in known:
            slot = self._slot(url)
            index = self._state.record_of(slot)
            if index is None or int(self._state.records.rows["outcome"][index]) not in IN_VAIN:
                continue
            if self._checks.busy(slot) or self._barred.rule(slot, url):
                continue
            number = int(self._state.known.row(slot)["host"])
            self._frontier.take_waiting(self._frontier.hosts[number], slot, self._state.known.count)
            self._frontier.add_new(number, (slot,))
            self._learner.queued(np.array([slot], np.uint32))
            count += 1
        return count

    def _check(self, order: CrawlOrder, now: float) -> Deed:
        url = normalise(order.urls[0]) if len(order.urls) == 1 else None
        if url is None:
            return refused("a check names one http or https URL")
        slot = self._slot(url)
        if slot == NO_SLOT:
            return refused(_UNKNOWN.format(url, url))
        if rule := self._barred.rule(slot, url):
            return refused(f"{url} is kept out by {rule}")
        if len(self._state.steered.checks) >= MOST_CHECKS:
            return refused(f"{MOST_CHECKS} pages already wait to be checked; try again later")
        return Deed(self._checks.outlook(slot, now), BEGUN, slot=slot)

    def _slot(self, url: str) -> int:
        return int(self._state.find([url])[0])

    # The whole crawl

    def _pause(self, order: CrawlOrder, now: float) -> Deed:
        if self._state.steered.paused_at:
            return Deed("it was paused already")
        return Deed("nothing is requested until: evercrawl resume", paused=True)

    def _resume(self, order: CrawlOrder, now: float) -> Deed:
        if not self._state.steered.paused_at:
            return Deed("it was not paused")
        return Deed("pages are requested again", paused=False)

    def _boost(self, order: CrawlOrder, now: float) -> Deed:
        pattern = _pattern(order, "boost")
        others = [
            each for each in self._state.steered.boosts
            if each.pattern != pattern and not 0.0 < each.until <= now
        ]  # fmt: skip
        if order.lift:
            if len(others) == len(self._state.steered.boosts):
                return refused(f"no boost is on {pattern!r}")
            return Deed(f"the boost on {pattern!r} is lifted", boosts=others)
        if not LEAST_FACTOR <= order.factor <= MOST_FACTOR or not 0.0 <= order.lasts_s < math.inf:
            return refused(f"the factor of a boost is from {LEAST_FACTOR:g} to {MOST_FACTOR:g}")
        if len(others) >= MOST_BOOSTS:
            return refused(f"{MOST_BOOSTS} boosts are active; lift one first")
        until = now + order.lasts_s if order.lasts_s else 0.0
        how = f"pages that match {pattern!r} count {order.factor:g} times as much"
        unheeded = "" if self._tuning.weighs else "; the policy does not ask what pages are worth, so nothing changes"
        return Deed(f"{how}{unheeded}", boosts=[*others, Boost(pattern, order.factor, now, until)])

    # Settings

    def _rule_change(self, order: CrawlOrder) -> Deed:
        pattern, name = _pattern(order, order.do), order.do

        def change(config: Config) -> dict[str, object]:
            return {name: _listed(getattr(config, name), pattern, lift=order.lift)}

        return Deed("", change=change)

    def _rule(self, order: CrawlOrder, now: float) -> Deed:
        pattern, name, tuning = _pattern(order, order.do), order.do, self._tuning
        listed = _listed(getattr(tuning.config, name), pattern, lift=order.lift)
        own = f"{name} = {pattern!r}" if name == "exclude" else f"{name} = "
        rules = self._adopt(replace(tuning.config, **{name: listed}), now, own)  # type: ignore[arg-type]
        what = "is lifted" if order.lift else "applies from now on, to known pages too"
        return Deed(f"{name} = {pattern!r} {what}", rules=rules)

    def _adopt(self, config: Config, now: float, own: str) -> dict[str, float]:
        """Adopt settings; return since when each rule of the scope holds.

        A rule without a noted time came with the crawl: it kept no known page out. A rule that begins with `own` is
        the order's own: after a crash it may already stand in crawl.toml.
        """
        noted, standing = self._state.steered.bounds, self._tuning.scope.rules()
        since = {rule: self._state.epoch for rule in standing if not rule.startswith(own)} | noted
        self._tuning.adopt(config, now)
        return {rule: since.get(rule, now) for rule in self._tuning.scope.rules()}

    def _set_change(self, order: CrawlOrder) -> Deed:
        if (where := section_key(order.name)) is not None:
            return self._section_change(order, where)
        setting = SETTINGS.get(order.name)
        if setting is None:
            near = difflib.get_close_matches(order.name, SETTINGS, 1)
            return refused(f"{order.name[:60]!r} is not a setting{f'; did you mean {near[0]!r}' if near else ''}")
        many = isinstance(setting.default, tuple)
        if not many and len(order.values) != 1:
            return refused(f"{order.name} takes one value")
        raw: object = list(order.values) if many else order.values[0]
        value = read(setting, raw, order.name)
        replace(self._tuning.config, **{order.name: value})  # type: ignore[arg-type]  # raises if they do not fit together
        return Deed("", change=lambda _: {order.name: value})

    def _section_change(self, order: CrawlOrder, where: SectionKey) -> Deed:
        def change(config: Config) -> dict[str, object]:
            return with_value(config, where, order.values, unset=order.lift)

        now = self._tuning.config
        self._tuning.check(replace(now, **with_value(now, where, order.values, unset=order.lift)))
        return Deed("", change=change)

    def _set_section(self, order: CrawlOrder, where: SectionKey, now: float) -> Deed:
        tuning = self._tuning
        config = replace(tuning.config, **with_value(tuning.config, where, order.values, unset=order.lift))
        rules = self._adopt(config, now, f'[{where.kind}."{where.name}"]')
        value = value_in(config, where)
        shown = "is unset" if order.lift else f"= {value}"
        return Deed(f"{where} {shown} from now on", rules=rules)

    def _set(self, order: CrawlOrder, now: float) -> Deed:
        if (where := section_key(order.name)) is not None:
            return self._set_section(order, where, now)
        setting, changed = SETTINGS[order.name], self._set_change(order).change
        assert changed is not None, "it was read before"
        value = changed(self._tuning.config)[order.name]
        shown = as_written(setting, value)
        if order.name == "policy_options":
            return Deed(f"{order.name} = {shown} is in crawl.toml; the policy takes those that can change, and says so")
        if not setting.live:
            return Deed(f"{order.name} = {shown} is in crawl.toml, and is used from the next start on")
        config = replace(self._tuning.config, **{order.name: value})  # type: ignore[arg-type]
        rules = self._adopt(config, now, f"{order.name} = ")
        return Deed(f"{order.name} = {shown} from now on", rules=rules if setting.section == "scope" else None)


def _listed(entries: Sequence[str], pattern: str, *, lift: bool) -> tuple[str, ...]:
    """Return a list of expressions with `pattern` added, or with it removed if `lift`."""
    others = tuple(entry for entry in entries if entry != pattern)
    return others if lift else (*others, pattern) if pattern not in entries else tuple(entries)


def _pattern(order: CrawlOrder, flag: str) -> str:
    if not order.pattern or len(order.pattern) > PATTERN_CHARACTERS:
        raise ConfigError(f"{flag} takes an expression of 1 to {PATTERN_CHARACTERS} characters")
    read(SETTINGS["exclude"], [order.pattern], flag)
    return order.pattern
