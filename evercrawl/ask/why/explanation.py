"""What there is to say about the decision on one page; `evercrawl.ask.why.why` says it."""

from dataclasses import dataclass

from evercrawl.ask.changes.noises import NoiseHabit
from evercrawl.ask.why.feeders import Feeder


@dataclass(frozen=True, slots=True)
class Origin:
    """How a URL became known: when, on which page ("" for a seed, or what a sitemap lists), how far from a seed."""

    found_at: float
    source: str
    depth: int
    hops: int


@dataclass(frozen=True, slots=True)
class VisitSummary:
    """What the visits came to: of the last one class, HTTP status, instant and failure; how many there were.

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
    """How much a page matters.

    Attributes
    ----------
    share, times_mean, rank, of
        Of all importance (halved for each visit in a row that found the page gone or in trouble); in units of the mean
        page; place among the pages that count, None for an alias, which has none.
    cash
        What a visit would move, as a share of all importance.
    site_share
        What it has for being one of its site's pages, as a share of all importance.
    feeders, feeding
        The ten pages that give most, and how many give.
    error
        By how much `share` is off at most, on the links last read; None where the crawl cannot say
        (`model.error_bound`).
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
    """What `--weight` makes of a page.

    Attributes
    ----------
    weight, times
        Its name, and by how much it multiplies the page's importance; what lasts of its changes is left out.
    opened, shown
        How often people opened the page, and how often they were shown it.
    expected
        Openings that are to be expected: where it stood, or of its kind.
    similar, usual
        How like the page is to what people ask, and how like one is that has one of the words.
    now, before
        Its importance, in units of the mean page, and what it was when importance was looked at before. Where sites
        are weighed, `now` is that of its site, in units of the mean site.

    What the weight does not go by, or does not know yet, is None.
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
    """What a page's site says of changes in its sitemaps and feeds.

    Attributes
    ----------
    announced
        Which part of its changes it announces, as far as visits have told; where they have told little, near what is
        usual of sites that do.
    heard, missed
        Visits that found a change that was announced, and one of which nothing was said.
    true, false
        Announcements after which a visit found a change, and none.
    """

    announced: float
    heard: int
    missed: int
    true: int
    false: int


@dataclass(frozen=True, slots=True)
class Belief:
    """What is believed of a page's rate of change.

    Attributes
    ----------
    rate_per_s, low_per_s, high_per_s
        Mean, and between which rates it lies with a probability of 0.9.
    shape, scale_s
        The Gamma distribution that says so.
    prior_rate_per_s
        Mean for any page of its site.
    dates_trusted, listings_trusted
        Whether the Last-Modified dates of its site are believed, and those of its sitemaps and feeds.
    fresh
        Probability that the copy held is the page as it is now; None where none is held.
    by_clock, ahead_nats
        Whether the clock of its folder more likely tells how the copy ages than time alone; and the logarithm of the
        odds of that, by what was found on its site and on others. None where the policy has no clocks, or saw no page.
    announcing
        What its site says of changes; None where it never announced any.
    lasting, judged
        Which part of the page a change replaces for good, and by how many changes that is told, of which no more than
        about the last fifteen count; None and 0 where none has told yet.
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
    """What a visit is worth, and when it comes.

    Attributes
    ----------
    policy, unit
        Which page next; what the budget is counted in, "byte" or "visit".
    value, price
        Of a visit now, by the policy, and what it has to be worth; None where there is no price.
    cost
        Expected cost of a visit now.
    due_at, earliest_at
        When a visit is worth the price, or falls due by the policy, and before when it is not made in any case; None
        for never, or not known.
    ahead, ahead_on_host
        How many pages that could be visited now are worth more.
    wanted, because
        How many times as much as its importance says a visit counts, and why, "" where it is just once.
    given_up
        Whether the policy does not visit the page again, as things are.
    unheeded
        Which of the policy's parameters changes nothing in this crawl, and why; "" where all have an effect.
    place, waited_s
        Where the page stands by the policy, where its value says no more than that, else ""; how long ago its last
        visit was, None where there was none.
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
    """What is expected of a page that was never read, by what others of its site turned out to be.

    Attributes
    ----------
    read
        Pages of its kind of address that were read, as many links from a seed.
    own, doubt
        Probability that it has content of its own, and the standard deviation of that.
    ends
        Whether its kind of URL is believed to be finite, and not to be mostly copies; else the page is held back.
    tried
        Whether it is read all the same, to see whether its kind ends.
    owed
        Whether it comes before all others of its host, which has had visits enough for all that is known of it.
    times
        How many times as much it is expected to weigh as its place in the tree of links says.
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
    """What a page needs to be shown: how much, how much of it is archived and owed, and why the rest is missing.

    `missing` has the URL and the reason of the first ten that are neither archived nor owed.
    """

    known: int
    archived: int
    owed: int
    missing: dict[str, str]


@dataclass(frozen=True, slots=True)
class Why:
    """All there is to say about a URL; what does not apply to it is None.

    Attributes
    ----------
    url, at
        Normalised, and the instant of which all this is said.
    state
        "waiting" (never fetched), "held", "alias", "near-duplicate", "gone", "retired", "error", "refused", "redirect",
        "excluded" (a rule of the scope keeps it out, whatever it was before);
        of what is not known "out of scope", "refused" or "unknown".
    reasons
        What keeps it from being visited, or why it is as it is, a sentence each.
    alias
        The page that it only leads to, or that says nearly the same; "" where there is none.
    weight, weighed
        How much it matters by its links, and what the setting `weight` makes of that; the latter is None also where
        the policy does not ask.
    cut_links
        How many further URLs the page links to that are not followed, as it links to too many.
    expected
        What is expected of it; None of a page that was read, and where nobody learns it.
    noise
        How many of its latest changes are noise; None where too few are known, or it has no text.
    optouts
        What the content that is held, or its site, asks of those who train or feed models; see `OptOut`.
    requisites
        What the page needs to be shown; None where nobody fetches that.
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
