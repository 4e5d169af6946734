"""Ownership of policy options: those given with one policy do not apply to another that a later source names."""

from collections.abc import Iterable


def owned(policy: str, options: Iterable[str]) -> tuple[str, ...]:
    """Return options with the name of the policy that each belongs to; by default the given policy.

    >>> owned("chile", ["a=2", "rpuc.types = 3"])
    ('chile.a=2', 'rpuc.types = 3')
    """
    return tuple(option if _owner(option) else f"{policy}.{option}" for option in options)


def parted(policy: str, options: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the options of the given policy, without its name, and those of other policies.

    >>> parted("price-gamma", ["a=2", "price_gamma.b=1", "rpuc.types=3"])
    (('a=2', 'b=1'), ('rpuc.types=3',))
    """
    own, others = list[str](), list[str]()
    for option in options:
        owner = _owner(option)
        if owner and not same(owner, policy):
            others.append(option)
        else:
            own.append(option.strip().removeprefix(f"{owner}.") if owner else option)
    return tuple(own), tuple(others)


def same(policy: str, other: str) -> bool:
    """Return whether two names are those of one policy.

    >>> same("price-gamma", "price_gamma")
    True
    """
    return policy.replace("-", "_") == other.replace("-", "_")


def _owner(option: str) -> str:
    """Return the policy that an option names, as written; "" if it names none."""
    return option.partition("=")[0].strip().rpartition(".")[0]
