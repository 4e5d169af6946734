"""Look up strategies by name: the name of a file or folder, or `package.module:Class` for code outside evercrawl.

Code from outside is loaded only if the user named it on the command line or the program called `trust`: a crawl
directory may come from a stranger, and opening it must not run code that its files name.
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
"""The environment variable that passes the trusted classes to child processes; names separated by spaces."""


def trust(names: Iterable[str]) -> None:
    """Allow this process and its children to load classes from outside evercrawl, written `package.module:Class`.

    Examples
    --------
    >>> trust(["my_policies:Mine"])
    >>> trusts("my_policies:Mine"), trusts("my_policies:Other"), trusts("evercrawl.schedule.policies.cycle:Cycle")
    (True, False, True)
    """
    if names := list(names):
        os.environ[TRUSTED] = " ".join(dict.fromkeys([*os.environ.get(TRUSTED, "").split(), *names]))


def trusts(name: str) -> bool:
    """Return whether the class of that name may be loaded: it is evercrawl's own, or it was trusted."""
    own, _, _ = __name__.partition(".")
    return name.partition(":")[0].split(".")[0] == own or name in os.environ.get(TRUSTED, "").split()


def trust_program(path: str) -> None:
    """Allow this process and its children to run a program that the settings of a crawl directory name.

    Examples
    --------
    >>> trust_program("/opt/a browser/chromium")
    >>> trusts_program("/opt/a browser/chromium"), trusts_program("/opt/a")
    (True, False)
    """
    trust([quote(str(Path(path).absolute()))])


def trusts_program(path: str) -> bool:
    """Return whether a program may be run: `EVERCRAWL_BROWSER` names it, or it was trusted."""
    named = os.environ.get(BROWSER, "")
    if named and Path(named).absolute() == Path(path).absolute():
        return True
    return quote(str(Path(path).absolute())) in os.environ.get(TRUSTED, "").split()


def names(package: ModuleType) -> list[str]:
    """Return the sorted names of the modules in `package` that can hold a strategy, without importing them."""
    return sorted(i.name for i in pkgutil.iter_modules(package.__path__) if i.name != "base" and i.name[0] != "_")


def find(package: ModuleType, base: type[T]) -> dict[str, type[T]]:
    """Return the concrete subclass of `base` in each file of `package`, keyed by file name.

    Examples
    --------
    >>> from evercrawl import schedule
    >>> {"breadth_first", "price"} < set(find(schedule.policies, schedule.Policy))
    True
    """
    found = {name: _in_file(package, base, name) for name in names(package)}
    return {name: strategy for name, strategy in found.items() if strategy is not None}


def pick(package: ModuleType, base: type[T], name: str, offered: Callable[[type[T]], bool] = lambda _: True) -> type[T]:
    """Return the strategy called `name`; `-` and `_` are equivalent.

    Parameters
    ----------
    package, base, name
        Package to search, base class of the strategy, and its name.
    offered
        Whether the error message lists a strategy as an alternative.

    Raises
    ------
    ConfigError
        No file of that name holds such a strategy; the message lists the alternatives.

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
        wanted = f"{base.__module__}.{base.__name__}"
        raise ConfigError(f"{name!r} is not of the class {base.__name__}; derive it from {wanted}")
    return value


def _is_strategy(value: object, base: type[T]) -> TypeGuard[type[T]]:
    return isinstance(value, type) and issubclass(value, base) and not getattr(value, "__abstractmethods__", None)
