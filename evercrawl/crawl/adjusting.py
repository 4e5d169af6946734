"""Parameters of the policy that are changed in crawl.toml while the crawl runs."""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

from evercrawl.clock import Clock
from evercrawl.config import FILE_NAME, Config, load
from evercrawl.config.owned import same
from evercrawl.errors import ConfigError
from evercrawl.model.policy.policies import parameters, values_of
from evercrawl.progress import Progress
from evercrawl.schedule.abilities import Tunable
from evercrawl.schedule.base import Policy
from evercrawl.store.partition import Partition

LOOK_S: Final = 1.0


class Adjusting:
    """Looks whether the file has other parameters for the policy than before, and has the policy take them.

    Parameters
    ----------
    file
        Of settings; what stands in it now is taken for known.
    name
        Of the policy.
    policy
        Which takes what it can.
    """

    def __init__(self, file: Path, name: str, policy: Policy) -> None:
        self._file, self._name, self._policy = file, name, policy
        self._written, self._taken = self._stamp(), self._begun_with()

    def look(self) -> str:
        """Return what became of a change, in a sentence; "" where there was none."""
        written = self._stamp()
        if written == self._written:
            return ""
        self._written = written
        try:
            more = {key: value for key, value in self._wanted().items() if value != self._taken.get(key)}
            if not more:
                return ""
            if not isinstance(self._policy, Tunable):
                raise ConfigError(
                    f"{type(self._policy).__name__} takes no other {', '.join(more)} while it runs; start again"
                )
            self._policy.adjust(more)
        except ConfigError as error:
            return f"{self._file}: {error}"
        self._taken |= more
        return f"{self._name} goes on with {', '.join(f'{key} = {value}' for key, value in more.items())}"

    def _stamp(self) -> tuple[int, int]:
        try:
            about = self._file.stat()
        except OSError:
            return (0, 0)
        return about.st_mtime_ns, about.st_size

    def _wanted(self) -> dict[str, float | str]:
        """Return all parameters as the file has them; what it does not name, or names no more, is as by default.

        A file that has another policy says nothing of this one, which was named for one run.
        """
        kind, file = type(self._policy), load(self._file)
        if not same(file.policy, self._name):
            return {}
        return parameters(kind) | values_of(self._name, kind, file.policy_options)

    def _begun_with(self) -> dict[str, float | str]:
        taken = parameters(type(self._policy))
        with contextlib.suppress(ConfigError):
            taken |= self._wanted()
        return taken


async def keep_adjusted(
    partition: Partition, config: Config, policy: Policy, clock: Clock, watch: Callable[[Progress], None]
) -> None:
    """Look once a second, until cancelled, and say what became of a change."""
    adjusting = Adjusting(partition.directory / FILE_NAME, config.policy, policy)
    while True:
        await asyncio.sleep(LOOK_S)
        said = adjusting.look()
        if said:
            watch(Progress(at=clock.now(), known=partition.state.known.count, message=said))
