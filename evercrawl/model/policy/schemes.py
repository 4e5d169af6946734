"""The importance scheme of a crawl: the one the settings ask for, its stored form, and its implementation."""

import inspect
from typing import Any, Final

from msgspec.structs import replace

from evercrawl import catalog, importance
from evercrawl.config import Config
from evercrawl.config.values import AUTO
from evercrawl.errors import ConfigError
from evercrawl.importance.base import Importance
from evercrawl.importance.windows import Window
from evercrawl.model.policy.window_sizes import WindowLength, split, window_of
from evercrawl.parse.sites import site
from evercrawl.store.partition import Partition
from evercrawl.store.scheme import Scheme
from evercrawl.store.state import State

LASTING: Final = (
    "importance", "window", "internal", "trusted", "suspects", "tax", "convention", "virtual_page", "virtual_spends",
)  # fmt: skip
"""Settings that say how importance is learned."""
INTERNAL: Final = 0.1
"""Weight of a link within a site, in a crawl of several."""
FIRST_WINDOW: Final = "interpolation"
"""The window of crawls that were begun before there was a choice, and do not name theirs."""
_UNSWITCHED: Final = (
    "importance was being switched to {} when the crawl ended; the next start judges {}, and until then importance is "
    "that of a part of it"
)


def kind_of(name: str) -> type[Importance]:
    """Return the scheme called `name`.

    Raises
    ------
    ConfigError
        There is none; the message lists those there are.

    Examples
    --------
    >>> kind_of("aopic").handout
    True
    """
    return catalog.pick(importance, importance.Importance, name)  # type: ignore[type-abstract]


def scheme_of(begun: Scheme, state: State | None = None) -> Importance:
    """Return the importance scheme of a crawl from its stored form.

    Parameters
    ----------
    begun
        The stored form.
    state
        The crawl at an instant, which sets the length of a window sized in visits or time.

    Examples
    --------
    >>> scheme_of(Scheme("aopic", True, 0.1, "unbounded")).window.__class__.__name__  # type: ignore[attr-defined]
    'Unbounded'
    """
    kind = kind_of(begun.name)
    if not _has_windows(kind):
        return kind(begun.tax, begun.internal, convention=begun.convention)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    window = window_of(begun.window or FIRST_WINDOW)
    if state is not None:
        length_of(begun, window, state).renew(state.last_at())
    return kind(begun.tax, begun.internal, window=window, convention=begun.convention)  # type: ignore[call-arg,arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType]


def length_of(begun: Scheme, window: Window, state: State) -> WindowLength:
    """Return the object that keeps a window's length in step with its size while the crawl runs."""
    return WindowLength(window, split(begun.window)[1], state)


def stored(name: str, internal: float = 1.0, window: str = AUTO, trusted: tuple[str, ...] = ()) -> Scheme:
    """Return the stored form of a scheme.

    Parameters
    ----------
    name, window
        Names in the catalogue; `AUTO` is the scheme's own window. Schemes without windows ignore it.
    internal, trusted
        As in `Scheme`.

    Raises
    ------
    ConfigError
        There is no such scheme or window; the message lists those there are.

    Examples
    --------
    >>> stored("push", 0.1) == Scheme("push", internal=0.1)
    True
    >>> stored("aopic", window="unbounded").window
    'unbounded'
    """
    kind = kind_of(name)
    own = ""
    if _has_windows(kind):
        own = _default_window(kind) if window == AUTO else window
        window_of(own)
    width = scheme_of(Scheme(name, kind.handout, internal, own)).width
    return Scheme(name, kind.handout, internal, own, width, trusted)


def wanted(config: Config, now: Scheme | None = None, *, alone: bool = False) -> Scheme:
    """Return the scheme that the settings ask for.

    Parameters
    ----------
    config
        The settings; what they leave open stays as it is, or is the default for a new crawl.
    now
        The crawl's current scheme; None for a new crawl.
    alone
        Whether a new crawl covers one site only, so that all links are internal.

    Raises
    ------
    ConfigError
        There is no such scheme or window; the message lists those there are.

    Examples
    --------
    >>> from evercrawl.config import Config
    >>> wanted(Config(), alone=True) == Scheme("push", internal=1.0)
    True
    >>> wanted(Config(importance="uniform"), Scheme("aopic", True, 0.1, "unbounded")) == Scheme("uniform", internal=0.1)
    True
    """
    trusted = tuple(sorted({site(name) for name in config.trusted}))
    usual = now.internal if now is not None else 1.0 if alone else INTERNAL
    internal = usual if config.internal == AUTO else float(config.internal)
    virtual = _virtual(config, now or Scheme())
    if virtual["virtual"] != "sites" and not kind_of(config.importance).handout:
        raise ConfigError(
            f"virtual_page = {virtual['virtual']} needs circulating cash; {config.importance} has a source a site "
            "instead: add --importance aopic"
        )
    asked = config.window
    if now is not None and now.name == config.importance and asked in (AUTO, now.window or FIRST_WINDOW):
        as_it_is = stored(now.name, internal, now.window or FIRST_WINDOW, trusted)
        as_it_is = replace(as_it_is, **virtual)
        return replace(as_it_is, window=now.window) if as_it_is.width == now.width else as_it_is
    return replace(stored(config.importance, internal, asked, trusted), **virtual)


def _virtual(config: Config, now: Scheme) -> dict[str, Any]:
    """Return the settings of the virtual page; what they leave open stays as it is."""
    virtual = now.virtual if config.virtual_page == AUTO else config.virtual_page
    if virtual == "focused" and config.virtual_spends == "at-once":
        raise ConfigError("virtual_page = focused spends in its turn; leave out virtual_spends = at-once")
    held = now.in_turn and (now.virtual != "focused" or virtual == "focused")  # as is always the case for that scheme
    in_turn = held if config.virtual_spends == AUTO else config.virtual_spends == "in-turn"
    return {
        "tax": now.tax if config.tax == AUTO else float(config.tax),
        "convention": now.convention if config.convention == AUTO else config.convention,
        "virtual": virtual,
        "in_turn": in_turn or virtual == "focused",
    }


def _has_windows(kind: type[Importance]) -> bool:
    return "window" in inspect.signature(kind).parameters


def _default_window(kind: type[Importance]) -> str:
    window = kind().window  # type: ignore[attr-defined]  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportAttributeAccessIssue]
    return type(window).__module__.rpartition(".")[2]  # pyright: ignore[reportUnknownArgumentType]


def unswitched(partition: Partition) -> str:
    """Return a message about a crawl that was interrupted during a switch of schemes."""
    rest = "its past anew" if partition.birth.judged is None else "the rest of its past"
    return _UNSWITCHED.format(partition.scheme.name, rest)
