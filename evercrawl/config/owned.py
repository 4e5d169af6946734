"""Whose parameters are meant: those of a policy that one source names say nothing to a policy that another names."""

from collections.abc import Iterable


def owned(policy: str, options: Iterable[str]) -> tuple[str, ...]:
    """Return the options of a policy, each under the name of the policy that it is a parameter of.

    >>> owned("chile", ["a=2", "rpuc.types = 3"])
    ('chile.a=2', 'rpuc.types = 3')
    """
    return tuple(option if _owner(option) else f"{policy}.{option}" for option in options)


def parted(policy: str, options: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the options that mean this policy, without its name, and those that mean others.

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
    """Whether two names are of one policy.

    >>> same("price-gamma", "price_gamma")
    True
    """
    return policy.replace("-", "_") == other.replace("-", "_")


def _owner(option: str) -> str:
    """Return whose parameter an option gives a value to, as it is written; "" where that is not said."""
    return option.partition("=")[0].strip().rpartition(".")[0]
