"""Learning from visits how often pages change, and which sites' dates and announcements can be trusted."""

import math
from typing import Final, NamedTuple

from evercrawl.change import dates, evidence, extent
from evercrawl.change.evidence import Interval, Refits
from evercrawl.change.levels import Levels
from evercrawl.change.vanishing import VanishingRates
from evercrawl.model.notices import AnnouncedDates
from evercrawl.model.rates import (
    ELSEWHERE,
    NO_COPY,
    Refitting,
    comebacks_of,
    deaths_of,
    elsewhere_of,
    priors_of,
    total,
)
from evercrawl.model.site_votes import SiteVotes
from evercrawl.model.stored.reading import Before, Reading
from evercrawl.store.journal.events import (
    CHANGED,
    DATE_FALSE,
    DATE_TRUE,
    HAS_LINKS,
    LISTED_FALSE,
    LISTED_TRUE,
    MISSED,
    UNCHANGED,
    VALIDATED,
)
from evercrawl.store.records.evidence import AnnouncementEvidence, RateEvidence, pack_survival
from evercrawl.store.state import HELD, State
from evercrawl.types import NO_SLOT, Outcome

_FIRST_CYCLE_S: Final = 86_400.0
_RESUMED_INTERVALS: Final = 100  # number of intervals that the mean of earlier runs counts as
_CYCLE_WEIGHT: Final = 1e-3  # minimum weight of one visit in the mean interval


class Lesson(NamedTuple):
    """What a visit teaches about change.

    Attributes
    ----------
    flags, evidence
        Bits of the event's flags, and the evidence about the page's rate, packed.
    changed_at
        When the content changed; 0 if it did not.
    fresh
        Whether the copy was still equal to the page; None if there was no copy, or the visit does not tell.
    announcement_evidence
        Evidence about the share of changes that the site announces, packed; 0 if the site never announced a change.
    fresh_by_time
        Probability that the copy was fresh, by the posterior of the page's rate, packed; 0 if the visit does not tell.
    """

    flags: int = 0
    evidence: bytes = b""
    changed_at: float = 0.0
    fresh: bool | None = None
    announcement_evidence: int = 0
    fresh_by_time: int = 0


class Changes:
    """Learns rates of change, page by page and site by site.

    Parameters
    ----------
    state
        The state; learning continues from the evidence in its records.
    notices
        The changes that sitemaps and feeds announced.

    Attributes
    ----------
    notices
        The parameter of this name.
    priors
        The priors of rates of change, by site.
    cycle_s
        Mean time between two visits of a page, as a mean over visits, in seconds.
    deaths, comebacks
        The rates at which pages vanish, and at which gone pages come back.
    """

    def __init__(self, state: State, notices: AnnouncedDates) -> None:
        self._state = state
        self.notices = notices
        self._votes = SiteVotes(state)
        self.priors = priors_of(state, self._votes)
        self.cycle_s = state.notes.get("cycle_s", _FIRST_CYCLE_S)
        self._refitting = Refitting(self.priors, state)
        self._refits = Refits(_RESUMED_INTERVALS if "cycle_s" in state.notes else 0)
        self._vanishing = VanishingRates(deaths_of(state), comebacks_of(state))
        self.deaths, self.comebacks = self._vanishing.deaths, self._vanishing.comebacks
        self._elsewhere = elsewhere_of(state)  # the latest sums of each other partition

    @property
    def nbytes(self) -> int:
        """Memory use in bytes, without notices and priors."""
        return self.deaths.nbytes + self.comebacks.nbytes

    def notes(self) -> dict[str, float]:
        """Return numbers for other processes and for the next run, as notes of the state."""
        found = {"cycle_s": self.cycle_s} if self._refits.intervals else {}
        if self.deaths.watched_s:
            found |= {"gone_pages": self.deaths.gone, "watched_s": self.deaths.watched_s}
        if self.comebacks.watched_s:
            found |= {"back_pages": self.comebacks.back, "gone_watched_s": self.comebacks.watched_s}
        outdated = dict.fromkeys((name for name in self._state.notes if name.startswith(ELSEWHERE)), 0.0)
        return (
            found
            | outdated
            | {
                f"{ELSEWHERE}{sender}_{name}": value
                for sender, sums in self._elsewhere.items()
                for name, value in sums.items()
            }
        )

    def sums(self) -> dict[str, float]:
        """Return the sums behind beliefs that all partitions of a crawl share; see `take`."""
        return self.priors.votes.sums() | {
            "gone_pages": self.deaths.gone, "watched_s": self.deaths.watched_s,
            "back_pages": self.comebacks.back, "gone_watched_s": self.comebacks.watched_s,
        }  # fmt: skip

    def take(self, sender: int, sums: dict[str, float]) -> None:
        """Let the `sums` of another partition count like those of this one, and replace its earlier sums."""
        self._elsewhere[sender] = sums
        told = total(self._elsewhere.values())
        self.priors.elsewhere = Levels.from_sums(told)
        self.deaths.elsewhere = told["gone_pages"], told["watched_s"]
        self.comebacks.elsewhere = told["back_pages"], told["gone_watched_s"]

    def learn(self, reading: Reading, outcome: Outcome, flags: int) -> Lesson:
        """Return the lesson of a visit; `outcome` and `flags` are those of its event, as far as known."""
        before, at = reading.before, reading.exchange.at
        said_at, first_at = self.notices.date(reading.slot), self.notices.first(reading.slot)
        self.notices.visited(reading.slot)
        self._grow()
        site = int(self._state.site_of[reading.host.number])
        self._learn_vanishing(reading, site, outcome)
        held = bool(before.digest) and before.outcome not in NO_COPY
        if outcome not in (Outcome.OK, Outcome.DUPLICATE, Outcome.TRUNCATED):
            vanished = held and outcome in NO_COPY  # a visit without an answer does not tell
            return Lesson(VALIDATED if before.validated else 0, fresh=False if vanished else None)
        cheap = VALIDATED if _validated(reading, flags) else 0
        changed = bool(before.digest) and _changed(reading, flags)
        date_at = _date(reading, changed)
        if not before.digest:
            return Lesson(cheap, b"", date_at if date_at is not None and date_at < at else at)
        if outcome == Outcome.TRUNCATED:
            return Lesson(cheap, b"", at if flags & CHANGED else 0.0)
        interval_s = max(at - before.seen_at, 0.0)
        truth = self._truth(reading, site, changed, interval_s, date_at, said_at)
        age_s = self._age_s(site, at, interval_s, date_at, said_at) if changed else None
        seen, news = Interval(interval_s, 0.0, age_s), 0
        if said_at or self.notices.announces(site):
            seen, news = self._hear(before, site, changed, interval_s, at - first_at if said_at else None, age_s)
            truth |= MISSED if changed and not said_at else 0
        by_time = pack_survival(self._survival(before, site, interval_s))
        learned = RateEvidence(*self._evidence(reading, site, changed, interval_s, seen)).pack()
        changed_at = 0.0 if not flags & CHANGED else at - age_s if age_s is not None else at
        return Lesson(cheap | truth, learned, changed_at, not changed if held else None, news, by_time)

    def _survival(self, before: Before, site: int, interval_s: float) -> float:
        """Return the probability that a page has not changed since it was read, by the posterior of its rate."""
        shape, scale_s = self.priors.prior(site)
        return math.exp(-(shape + before.shape) * math.log1p(interval_s / (scale_s + before.scale_s)))

    def _voter(self, site: int) -> int:
        """Return the number of a site for limits; all sites that share a vote have the number 0."""
        return 0 if self.priors.shares_vote(site) else site + 1

    def _learn_vanishing(self, reading: Reading, site: int, outcome: Outcome) -> None:
        """Learn whether a page has vanished, or is back where the last visit found it gone.

        A failed visit teaches nothing. Nor does a page found gone after failed visits, because it may have vanished at
        any time since the last read.
        """
        before, at = reading.before, reading.exchange.at
        if outcome in (Outcome.ERROR, Outcome.REFUSED):
            return
        gone, read = outcome == Outcome.GONE, outcome in (Outcome.OK, Outcome.DUPLICATE)
        since_s = missing_s = interval_s = math.nan
        if before.digest and not (gone and before.misses):
            since_s = max(at - before.seen_at, 0.0)
        back = outcome in HELD
        if before.outcome == Outcome.GONE and before.visited_at is not None:
            there_at = (
                before.seen_at if before.digest else self._state.instant(self._state.known.row(reading.slot)["found"])
            )
            missing_s, interval_s = max(before.visited_at - there_at, 0.0), max(at - before.visited_at, 0.0)
            back = back or (outcome == Outcome.REDIRECT and self._leads_back(reading))
        self._vanishing.learn(self._voter(site), since_s, missing_s, interval_s, read=read, gone=gone, back=back)

    def _leads_back(self, reading: Reading) -> bool:
        """Return whether the redirect of a page that was gone leads to content that was not available meanwhile.

        Its target is then an unread page, to which the page may have moved, or the page of which it was an alias before
        it was gone. Any other target was available all the time; a target outside the crawl brings no content.
        """
        target = self._state.find_one(reading.redirect)
        if target == NO_SLOT:
            return False
        own = self._state.record_of(reading.slot)
        stood_for = NO_SLOT if own is None else int(self._state.records.rows["alias"][own])
        return target == stood_for or self._state.record_of(target) is None

    def _hear(
        self, before: Before, site: int, changed: bool, interval_s: float, told_s: float | None, age_s: float | None
    ) -> tuple[Interval, int]:
        """Return the evidence of a visit about the interval before it and, packed, about its site's announcements.

        A change was first announced `told_s` before the visit; None if no change was announced.
        """
        (shape, scale_s), row = self.priors.prior(site), self._state.accounts.sites[site]
        belief, part = (shape + before.shape, scale_s + before.scale_s), self.notices.part(site)
        until_s = evidence.unannounced_s(interval_s, told_s)
        news = AnnouncementEvidence(*self.notices.heard(site, belief, until_s)).pack()
        likely = dates.likely(int(row["listed_true"]), int(row["listed_false"]))
        return evidence.interval(interval_s, changed, age_s, told_s, part, likely=likely), news

    def _evidence(
        self, reading: Reading, site: int, changed: bool, interval_s: float, seen: Interval
    ) -> tuple[float, float]:
        held, record = (reading.before.shape, reading.before.scale_s), self._state.record_of(reading.slot)
        assert record is not None, "the page was read before"
        if self._refits.due():
            self._refitting.begin()
        self._refits.intervals += 1
        self.cycle_s += (interval_s - self.cycle_s) * max(_CYCLE_WEIGHT, 1.0 / self._refits.intervals)
        after = evidence.learn(held, self.priors.prior(site), seen, changed, evidence.kept(interval_s, self.cycle_s))
        if self.priors.shares_vote(site) and self._votes.gives_own_vote(site, reading.slot):
            self._refitting.vote_alone(site)
        self._refitting.learn(site, record, held if any(held) else None, after)
        return after

    def _truth(
        self, reading: Reading, site: int, changed: bool, interval_s: float, date_at: float | None, said_at: float
    ) -> int:
        """Return event flags that say whether the site's dates and announcements proved true."""
        flags = 0
        if date_at is not None:
            held = reading.before.held
            before_at = dates.http_date(held.last_modified) if held is not None else None
            word = dates.judge(changed, interval_s, date_at, before_at, _served_at(reading))
            flags |= 0 if word is None else DATE_TRUE if word else DATE_FALSE
        if said_at:
            flags |= LISTED_TRUE if changed else LISTED_FALSE
        return flags

    def _age_s(self, site: int, at: float, interval_s: float, date_at: float | None, said_at: float) -> float | None:
        """Return the time since the change, in seconds, by a date that is trusted; None if there is none."""
        row = self._state.accounts.sites[site]
        if dates.trusted(int(row["date_true"]), int(row["date_false"])):
            age_s = dates.age_s(date_at, at, interval_s)
            if age_s is not None:
                return age_s
        if said_at and dates.trusted(int(row["listed_true"]), int(row["listed_false"])):
            return dates.age_s(said_at, at, interval_s)
        return None

    def _grow(self) -> None:
        self.priors.grow(len(self._state.sites))


def _date(reading: Reading, changed: bool) -> float | None:
    """Return the page's Last-Modified; None if it is absent, or if neither it nor the content has changed."""
    text, held = reading.exchange.headers.get("last-modified", ""), reading.before.held
    if not text or (not changed and held is not None and reading.before.digest and text == held.last_modified):
        return None
    return dates.http_date(text)


def _changed(reading: Reading, flags: int) -> bool:
    """Return whether a page has changed by more than noise."""
    before = reading.before
    if flags & UNCHANGED:
        return False
    return extent.changed(reading.digest, reading.page.words, before.digest, before.words)


def _validated(reading: Reading, flags: int) -> bool:
    """Return whether the next visit is cheap if nothing changed: the server sends validators and respects them."""
    if reading.exchange.status == 304:
        return True
    asked = reading.before.validated and flags & UNCHANGED
    return bool(reading.etag or reading.last_modified) and not asked if flags & (HAS_LINKS | UNCHANGED) else False


def _served_at(reading: Reading) -> float:
    """Return the instant of the answer by the server's clock, or by ours if the answer has no Date."""
    at = dates.http_date(reading.exchange.headers.get("date", ""))
    return at if at is not None else reading.exchange.at
