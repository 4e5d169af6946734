"""Changes of crawl.toml that apply while the crawl runs: policy parameters, and sections of sites and targets."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from evercrawl.clock import Clock
from evercrawl.config import FILE_NAME, Config, SiteRules, Target, has_settings, load
from evercrawl.config.owned import same
from evercrawl.crawl.orders.tuning import Tuning
from evercrawl.errors import ConfigError
from evercrawl.model.policy.policies import parameters, values_of
from evercrawl.progress import Progress
from evercrawl.schedule.abilities import Tunable
from evercrawl.schedule.base import Policy
from evercrawl.store.partition import Partition

LOOK_S: Final = 1.0
_Sections: TypeAlias = tuple[tuple[SiteRules, ...], tuple[Target, ...]]


class Adjusting:
    """Watches the settings file, and applies changed policy parameters and changed sections.

    Parameters
    ----------
    file
        The settings file; its present content counts as already applied.
    name
        The name of the policy.
    policy
        The policy, which accepts the parameters that it can change while it runs.
    adopt
        Applies sections of sites and of targets from now on, to known pages too, and returns whether they are new;
        raises ConfigError, and changes nothing, if they cannot apply. Without it, changed sections are ignored.

    Attributes
    ----------
    options
        The parameters that the policy accepted last, each as NAME=VALUE; the caller may clear them once noted.
    """

    def __init__(self, file: Path, name: str, policy: Policy, adopt: Callable[[_Sections], bool] | None = None) -> None:
        self._file, self._name, self._policy, self._adopt = file, name, policy, adopt
        self._written, self._taken = self._stamp(), self._begun_with()
        self._sections: _Sections | None = None
        self.options: tuple[str, ...] = ()
        with contextlib.suppress(ConfigError):
            self._sections = self._sections_of(load(file))

    def look(self) -> str:
        """Apply a change of the file, and return its result in a sentence; "" if nothing changed."""
        written = self._stamp()
        if written == self._written:
            return ""
        self._written = written
        if not has_settings(self._file.parent):  # as for an instant while an editor writes it
            return f"{self._file} is missing or empty; the settings stay as they are"
        sentences = [said for said in (self._reread(), self._tune()) if said]
        return "; ".join(dict.fromkeys(sentences))

    def _reread(self) -> str:
        """Apply sections that differ from before."""
        try:
            sections = self._sections_of(load(self._file))
        except ConfigError as error:
            return str(error)
        if self._adopt is None or sections == self._sections:
            self._sections = sections
            return ""
        try:
            news = self._adopt(sections)
        except ConfigError as error:
            return f"the sections of sites and targets stay as they were: {error}"
        self._sections = sections
        return f"the sections of sites and targets in {self._file.name} apply from now on" if news else ""

    @staticmethod
    def _sections_of(config: Config) -> _Sections:
        return config.sites, config.targets

    def _tune(self) -> str:
        try:
            more = {key: value for key, value in self._wanted().items() if value != self._taken.get(key)}
            if not more:
                return ""
            if not isinstance(self._policy, Tunable):
                raise ConfigError(
                    f"{type(self._policy).__name__} cannot change {', '.join(more)} while it runs; restart the crawl"
                )
            self._policy.adjust(more)
            self.options = tuple(f"{key}={value}" for key, value in more.items())
        except ConfigError as error:
            return str(error) if str(error).startswith(str(self._file)) else f"{self._file}: {error}"
        self._taken |= more
        return f"{self._name} now runs with {', '.join(f'{key} = {value}' for key, value in more.items())}"

    def _stamp(self) -> tuple[int, int]:
        try:
            about = self._file.stat()
        except OSError:
            return (0, 0)
        return about.st_mtime_ns, about.st_size

    def _wanted(self) -> dict[str, float | str]:
        """Return all parameters as set in the file; parameters that the file does not name have their defaults.

        If the file names another policy, this one was chosen for a single run, and the result is empty.
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
    partition: Partition,
    config: Config,
    policy: Policy,
    clock: Clock,
    watch: Callable[[Progress], None],
    tuning: Tuning | None = None,
) -> None:
    """Check the file once a second until cancelled, and report the result of each change; `tuning` applies sections."""

    def adopt(sections: _Sections) -> bool:
        assert tuning is not None, "adopt is passed only with a tuning"
        sites, targets = sections
        if (tuning.config.sites, tuning.config.targets) == sections:
            return False
        tuning.adopt(replace(tuning.config, sites=sites, targets=targets), clock.now())
        return True

    file = partition.directory / FILE_NAME
    adjusting = Adjusting(file, config.policy, policy, adopt if tuning is not None else None)
    while True:
        await asyncio.sleep(LOOK_S)
        said = adjusting.look()
        if tuning is not None and adjusting.options:
            new = {option.partition("=")[0] for option in adjusting.options}
            old = [option for option in tuning.config.policy_options if option.partition("=")[0] not in new]
            tuning.config = replace(tuning.config, policy_options=(*old, *adjusting.options))
            adjusting.options = ()
        if said:
            watch(Progress(at=clock.now(), known=partition.state.known.count, message=said))
