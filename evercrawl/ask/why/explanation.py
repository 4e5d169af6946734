"""The explanation of the decision on one page, as `evercrawl.ask.why.why` returns it."""

from dataclasses import dataclass

from evercrawl.ask.changes.noises import NoiseHabit
from evercrawl.ask.why.feeders import Feeder


@dataclass(frozen=True, slots=True)
class Origin:
    """Discovery of a URL: when, on which page ("" for a seed or a sitemap entry), and its distance from a seed."""

    found_at: float
    source: str
    depth: int
    hops: int


@dataclass(frozen=True, slots=True)
class VisitSummary:
    """Summary of the visits: class, HTTP status, instant and failure of the last one, and their number.

    `changed_at` is when the content last changed, as far as is known. Instants are seconds since the epoch.
    """

    outcome: str
    status: int
    visited_at: float
    error: str
    visits: int
    changes: int
    misses: int
    changed_at: float | None


@dataclass(frozen=True, slots=True)
class PageWeight:
    """The importance of a page.

    Attributes
    ----------
    share, times_mean, rank, of
        Share of all importance (halved for each consecutive visit that found the page gone or failing); the same in
        units of the mean page; rank, and number of ranked pages; the rank of an alias is None.
    cash
        Cash that a visit would move, as a share of all importance.
    site_share
        Importance that the page gets as a page of its site, as a share of all importance.
    feeders, feeding
        The ten pages that give most, and the number of pages that give.
    error
        Bound on the error of `share`, for the links last read; None if there is none (`model.error_bound`).
    """

    share: float
    times_mean: float
    rank: int | None
    of: int
    cash: float
    site_share: float
    feeders: tuple[Feeder, ...]
    feeding: int
    error: float | None


@dataclass(frozen=True, slots=True)
class Weighed:
    """The effect of `--weight` on a page.

    Attributes
    ----------
    weight, times
        Name of the weight, and the factor by which it multiplies the page's importance, without the factor for lasting
        changes.
    opened, shown
        How often users opened the page, and how often it was shown to them.
    expected
        Expected number of openings, for its positions or for its kind of page.
    similar, usual
        Similarity of the page to users' queries, and that of a page that has one of their words.
    now, before
        Its importance, in units of the mean page, and what it was at the previous comparison. If sites are weighed,
        `now` is that of its site, in units of the mean site.

    Values that the weight does not use, or does not know yet, are None.
    """

    weight: str
    times: float
    opened: float | None = None
    shown: float | None = None
    expected: float | None = None
    similar: float | None = None
    usual: float | None = None
    now: float | None = None
    before: float | None = None


@dataclass(frozen=True, slots=True)
class Announcing:
    """Announcements of changes in the sitemaps and feeds of a page's site.

    Attributes
    ----------
    announced
        Estimated part of its changes that the site announces; with little evidence, close to the prior of sites that
        announce changes.
    heard, missed
        Visits that found an announced change, and an unannounced one.
    true, false
        Announcements after which a visit found a change, and no change.
    """

    announced: float
    heard: int
    missed: int
    true: int
    false: int


@dataclass(frozen=True, slots=True)
class Belief:
    """The posterior of a page's rate of change.

    Attributes
    ----------
    rate_per_s, low_per_s, high_per_s
        Posterior mean, and the interval that contains the rate with a probability of 0.9.
    shape, scale_s
        Parameters of the Gamma posterior.
    prior_rate_per_s
        Prior mean for pages of its site.
    dates_trusted, listings_trusted
        Whether the Last-Modified dates of its site are trusted, and the dates in its sitemaps and feeds.
    fresh
        Probability that the copy is up to date; None if no copy is held.
    by_clock, ahead_nats
        Whether the clock of its folder predicts the ageing of the copy better than time alone; the log odds of that,
        from observations on its site and on others. None if the policy has no clocks, or has seen no page.
    announcing
        Announcements of its site; None if it never announced a change.
    lasting, judged
        Part of the page that a change replaces permanently, and number of changes behind that estimate, of which about
        the last fifteen count; None and 0 if there is none yet.
    """

    rate_per_s: float
    low_per_s: float
    high_per_s: float
    shape: float
    scale_s: float
    prior_rate_per_s: float
    dates_trusted: bool
    listings_trusted: bool
    fresh: float | None
    by_clock: bool | None = None
    ahead_nats: float | None = None
    announcing: Announcing | None = None
    lasting: float | None = None
    judged: int = 0


@dataclass(frozen=True, slots=True)
class Worth:
    """The value of a visit, and when it is due.

    Attributes
    ----------
    policy, unit
        Policy of the crawl; unit of the budget, "byte" or "visit".
    value, price
        Value of a visit now under the policy, and the price that it must reach; None if there is no price.
    cost
        Expected cost of a visit now.
    due_at, earliest_at
        When a visit is worth the price, or falls due under the policy; the instant before which it is never made; None
        for never, or if unknown.
    ahead, ahead_on_host
        Number of pages that could be visited now and are worth more: in all, and on its host.
    wanted, because
        Factor by which a visit counts more than the page's importance, and the reasons; "" if the factor is 1.
    given_up
        Whether the policy has given the page up under the present estimates.
    unheeded
        The policy parameter that has no effect in this crawl, and why; "" if all have an effect.
    place, waited_s
        Position of the page under the policy, if its value means no more than that, else ""; time since its last
        visit, None if there was none.
    """

    policy: str
    unit: str
    value: float | None
    price: float | None
    cost: float
    due_at: float | None
    earliest_at: float | None
    ahead: int
    ahead_on_host: int
    wanted: float = 1.0
    because: str = ""
    given_up: bool = False
    unheeded: str = ""
    place: str = ""
    waited_s: float | None = None


@dataclass(frozen=True, slots=True)
class UnreadExpectation:
    """Expectations about an unread page, from similar pages of its site.

    Attributes
    ----------
    read
        Number of pages read with its kind of URL, at the same distance from a seed.
    own, doubt
        Probability that it has content of its own, and the standard deviation of that probability.
    ends
        Whether its kind of URL is believed to be finite and not mostly copies; otherwise the page is held back.
    tried
        Whether it is read all the same, to find out whether its kind is finite.
    owed
        Whether it comes before all other pages of its host, which has had enough visits for all its known pages.
    times
        Ratio of its expected importance to what its position in the tree of links suggests.
    """

    read: int
    own: float
    doubt: float
    ends: bool
    tried: bool
    owed: bool
    times: float


@dataclass(frozen=True, slots=True)
class PageRequisites:
    """Requisites of a page: how many there are, how many are archived and owed, and why others are missing.

    `missing` has the URL and the reason of the first ten that are neither archived nor owed.
    """

    known: int
    archived: int
    owed: int
    missing: dict[str, str]


@dataclass(frozen=True, slots=True)
class Why:
    """The complete explanation of a URL; parts that do not apply are None.

    Attributes
    ----------
    url, at
        Normalised URL, and the instant of the explanation.
    state
        "waiting" (never fetched), "held", "alias", "near-duplicate", "gone", "retired", "error", "refused", "redirect",
        "excluded" (a rule of the scope keeps it out, whatever it was before);
        for unknown URLs "out of scope", "refused" or "unknown".
    reasons
        Reasons why it is not visited now, or for its state, a sentence each.
    alias
        The page of which it is an alias or a near-duplicate; "" if there is none.
    weight, weighed
        Importance from its links, and the effect of the setting `weight`; the latter is None also if the policy does
        not use it.
    cut_links
        Number of further links that are not followed because the page has too many.
    expected
        Expectations about an unread page; None for a page that was read, and if they are not learned.
    noise
        Noise among its latest changes; None if too few are known, or it has no text.
    optouts
        Opt-outs of the held content or the site from model training and input; see `OptOut`.
    requisites
        Requisites of the page; None if they are not fetched.
    """

    url: str
    at: float
    state: str
    reasons: tuple[str, ...]
    alias: str = ""
    found: Origin | None = None
    history: VisitSummary | None = None
    weight: PageWeight | None = None
    change: Belief | None = None
    worth: Worth | None = None
    weighed: Weighed | None = None
    cut_links: int = 0
    expected: UnreadExpectation | None = None
    noise: NoiseHabit | None = None
    optouts: tuple[str, ...] = ()
    requisites: PageRequisites | None = None
