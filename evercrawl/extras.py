"""Packages that not every installation has: each comes with an extra of evercrawl, named where it is missed."""

from importlib.util import find_spec

from evercrawl.errors import ConfigError


def require(package: str, extra: str, what: str) -> None:
    """See that an optional package is installed, before work begins that needs it.

    Raises
    ------
    ConfigError
        It is not.

    Examples
    --------
    >>> require("no_such_package", "parquet", "Parquet files")
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: Parquet files need no_such_package: pip install 'evercrawl[parquet]'
    """
    if find_spec(package) is None:
        raise ConfigError(f"{what} need {package}: pip install 'evercrawl[{extra}]'")


def require_parquet() -> None:
    """See that Parquet files can be read and written.

    Raises
    ------
    ConfigError
        They cannot.
    """
    require("pyarrow", "parquet", "Parquet files")
