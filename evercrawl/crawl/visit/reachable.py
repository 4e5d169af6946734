"""Which addresses of a host may be reached, according to the guard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from evercrawl.fetch.names.base import literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evercrawl.fetch.guard import Guard

JUDGED: Final = 1 << 14  # origins for which the guard's verdict is remembered


class ReachableAddresses:
    """Judges addresses of hosts; verdicts about origins are remembered.

    Parameters
    ----------
    guard
        Judges URLs and single addresses.
    proxied
        Whether a proxy makes the connections and look-ups.
    """

    def __init__(self, guard: Guard, *, proxied: bool) -> None:
        self._guard, self._proxied = guard, proxied
        self._judged: dict[str, tuple[tuple[str, ...], str]] = {}  # origin -> its addresses and the guard's verdict

    def refused(self, name: str, home: str, addresses: tuple[str, ...]) -> str:
        """Return why no page of an origin may be requested at the addresses of its host; "" if it may."""
        judged = self._judged.get(home)
        if judged is None or judged[0] != addresses:
            if len(self._judged) >= JUDGED:
                self._judged.clear()
            why = self._guard.judge_url(f"{home}/") or self.inside(name, addresses)
            judged = self._judged[home] = addresses, why
        return judged[1]

    def inside(self, name: str, addresses: tuple[str, ...]) -> str:
        """Return why no address of a host may be reached; "" if one may. With a proxy, only literal ones count."""
        addresses = literal(name) if self._proxied else addresses
        reasons = [self._guard.judge(address) for address in addresses]
        return reasons[0] if reasons and all(reasons) else ""

    def among(self, addresses: Sequence[str]) -> tuple[str, ...]:
        """Return the addresses that may be reached; all of them if none may."""
        return tuple(address for address in addresses if not self._guard.judge(address)) or tuple(addresses)
