"""Sends a HEAD request for a page first, to learn whether the copy is fresh, if the policy wants that.

A conditional request does the same at half the price if the server supports it. A HEAD request works with servers
that send a date or tag, but ignore conditions. A page whose head shows a change is visited at the host's next turn.
"""

from typing import Final

from evercrawl.model.stored.reading import Before
from evercrawl.schedule.base import Policy
from evercrawl.types import Exchange, Outcome

_NOT_MODIFIED: Final = 304
_REFUSED: Final = (405, 501)
_TROUBLE: Final = (408, 425, 429)


class HeadChecks:
    """Decides for which pages a HEAD request is sent first, and judges the answers.

    Parameters
    ----------
    policy
        Its `freshness_check` says whether heads are requested at all.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._cleared: set[int] = set()  # pages whose head showed a change, or nothing
        self._refusing: set[int] = set()  # hosts that do not support HEAD

    def wanted(self, host: int, slot: int, validators: tuple[tuple[str, str], ...]) -> bool:
        """Return whether to send a HEAD request for a page of host number `host`; `validators` are the copy's."""
        if slot in self._cleared:
            self._cleared.discard(slot)
            return False
        return bool(validators) and host not in self._refusing and self._policy.freshness_check == "head"

    def visited(self, exchange: Exchange, host: int, slot: int, before: Before) -> bool:
        """Return whether the answer to a HEAD request completes the visit; else the page has to be requested.

        If the head shows that the copy is fresh, the answer counts as `304 Not Modified`.
        """
        status = exchange.status
        if status == 0 or status in _TROUBLE or (status >= 500 and status not in _REFUSED):
            return True  # a failed visit, by either method
        if status == 200 and _same(exchange.headers, before):
            exchange.status = _NOT_MODIFIED
            return True
        if status in _REFUSED:
            self._refusing.add(host)
        self._cleared.add(slot)
        return False


def _same(headers: dict[str, str], before: Before) -> bool:
    """Return whether a head matches the copy: by its tag, or by its date if one of them has no tag."""
    last = before.last
    if last is None or last.outcome == Outcome.TRUNCATED:
        return False
    tag, date = headers.get("etag", ""), headers.get("last-modified", "")
    if tag and last.etag:
        return tag == last.etag
    return bool(date) and date == last.last_modified
