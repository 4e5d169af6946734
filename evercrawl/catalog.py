"""Find the strategy that a name stands for: its file's or folder's name, or `package.module:Class` from elsewhere.

Code from elsewhere is loaded only if the person at the command line named it, or the program called `trust`: a crawl
directory may come from a stranger, and to look into it must not run what its files name.
"""

import importlib
import os
import pkgutil
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Final, TypeGuard, TypeVar
from urllib.parse import quote

from evercrawl.errors import ConfigError

T = TypeVar("T")

BROWSER: Final = "EVERCRAWL_BROWSER"
"""The environment variable of the setting `browser`."""
TRUSTED: Final = "EVERCRAWL_TRUSTED"
"""The environment variable that tells processes begun here which classes are trusted; names with spaces between."""


def trust(names: Iterable[str]) -> None:
    """Let classes from outside evercrawl, written `package.module:Class`, be loaded here and in processes begun here.

    Examples
    --------
    >>> trust(["my_policies:Mine"])
    >>> trusts("my_policies:Mine"), trusts("my_policies:Other"), trusts("evercrawl.schedule.policies.cycle:Cycle")
    (True, False, True)
    """
    if names := list(names):
        os.environ[TRUSTED] = " ".join(dict.fromkeys([*os.environ.get(TRUSTED, "").split(), *names]))


def trusts(name: str) -> bool:
    """Whether the class of that name may be loaded: it is evercrawl's own, or somebody trusted it."""
    own, _, _ = __name__.partition(".")
    return name.partition(":")[0].split(".")[0] == own or name in os.environ.get(TRUSTED, "").split()


def trust_program(path: str) -> None:
    """Let a program be run here and by processes begun here, though the settings of a directory name it.

    Examples
    --------
    >>> trust_program("/opt/a browser/chromium")
    >>> trusts_program("/opt/a browser/chromium"), trusts_program("/opt/a")
    (True, False)
    """
    trust([quote(str(Path(path).absolute()))])


def trusts_program(path: str) -> bool:
    """Whether a program may be run: a flag of this call, the environment, or the program that began it has named it."""
    named = os.environ.get(BROWSER, "")
    if named and Path(named).absolute() == Path(path).absolute():
        return True
    return quote(str(Path(path).absolute())) in os.environ.get(TRUSTED, "").split()


def names(package: ModuleType) -> list[str]:
    """Return the file stems of `package` that can hold a strategy, sorted; nothing is imported."""
    return sorted(i.name for i in pkgutil.iter_modules(package.__path__) if i.name != "base" and i.name[0] != "_")


def find(package: ModuleType, base: type[T]) -> dict[str, type[T]]:
    """Return the concrete subclass of `base` in each file of `package`, by file name.

    Examples
    --------
    >>> from evercrawl import schedule
    >>> {"breadth_first", "price"} < set(find(schedule.policies, schedule.Policy))
    True
    """
    found = {name: _in_file(package, base, name) for name in names(package)}
    return {name: strategy for name, strategy in found.items() if strategy is not None}


def pick(package: ModuleType, base: type[T], name: str, offered: Callable[[type[T]], bool] = lambda _: True) -> type[T]:
    """Return the one strategy called `name`; `-` and `_` are equal.

    Parameters
    ----------
    package, base, name
        Where to look, for what kind, called how.
    offered
        Says of a strategy whether the message lists it, where there is none of that name.

    Raises
    ------
    ConfigError
        When no file of that name holds one; the message lists those that do.

    Examples
    --------
    >>> from evercrawl import schedule
    >>> pick(schedule.policies, schedule.Policy, "breadth-first").__name__
    'BreadthFirst'
    """
    if ":" in name:
        return _outside(base, name)
    stem = name.replace("-", "_")
    strategy = _in_file(package, base, stem) if stem in names(package) else None
    if strategy is None:
        known = ", ".join(stem for stem, other in find(package, base).items() if offered(other))
        raise ConfigError(f"no {base.__name__.lower()} is called {name!r}; choose one of: {known}")
    return strategy


def _in_file(package: ModuleType, base: type[T], stem: str) -> type[T] | None:
    module = importlib.import_module(f"{package.__name__}.{stem}")
    for value in vars(module).values():
        if _is_strategy(value, base) and f"{value.__module__}.".startswith(f"{module.__name__}."):
            return value
    return None


def _outside(base: type[T], name: str) -> type[T]:
    if not trusts(name):
        raise ConfigError(
            f"{name} is code from outside evercrawl, which is loaded only if the command names it: add --trust {name}"
        )
    module_name, _, class_name = name.partition(":")
    try:
        value = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"cannot load {name!r}: {error}; write it as package.module:Class") from error
    if not _is_strategy(value, base):
        raise ConfigError(f"{name!r} is no {base.__name__}; derive the class from {base.__module__}.{base.__name__}")
    return value


def _is_strategy(value: object, base: type[T]) -> TypeGuard[type[T]]:
    return isinstance(value, type) and issubclass(value, base) and not getattr(value, "__abstractmethods__", None)
