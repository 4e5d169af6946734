"""Asking for the head of a page first, to learn whether the copy is still good, where the policy wants that.

A conditional request does the same at half the price where servers honour it; a HEAD works with those that give a page
its date or tag but send it whole to everybody. What the head says to have changed is visited at the host's next turn.
"""

from typing import Final

from evercrawl.model.stored.reading import Before
from evercrawl.schedule.base import Policy
from evercrawl.types import Exchange, Outcome

_NOT_MODIFIED: Final = 304
_REFUSED: Final = (405, 501)
_TROUBLE: Final = (408, 425, 429)


class HeadChecks:
    """Says of which pages the head is asked for first, and what it told.

    Parameters
    ----------
    policy
        Its `freshness_check` says whether heads are asked for at all.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._cleared: set[int] = set()  # pages that the head said to have changed, or nothing of
        self._refusing: set[int] = set()  # hosts that do not answer

    def wanted(self, host: int, slot: int, validators: tuple[tuple[str, str], ...]) -> bool:
        """Return whether to ask for the head of a page of host number `host`; `validators` are of the copy."""
        if slot in self._cleared:
            self._cleared.discard(slot)
            return False
        return bool(validators) and host not in self._refusing and self._policy.freshness_check == "head"

    def visited(self, exchange: Exchange, host: int, slot: int, before: Before) -> bool:
        """Return whether the answer to a HEAD is all there is to a visit; else the page is yet to be asked for.

        Where the head says that the copy is good, the answer counts as `304 Not Modified`.
        """
        status = exchange.status
        if status == 0 or status in _TROUBLE or (status >= 500 and status not in _REFUSED):
            return True  # a failed visit, whichever way the page is asked for
        if status == 200 and _same(exchange.headers, before):
            exchange.status = _NOT_MODIFIED
            return True
        if status in _REFUSED:
            self._refusing.add(host)
        self._cleared.add(slot)
        return False


def _same(headers: dict[str, str], before: Before) -> bool:
    """Return whether a head names the copy that there is: by its tag, or where either has none by its date."""
    last = before.last
    if last is None or last.outcome == Outcome.TRUNCATED:
        return False
    tag, date = headers.get("etag", ""), headers.get("last-modified", "")
    if tag and last.etag:
        return tag == last.etag
    return bool(date) and date == last.last_modified
