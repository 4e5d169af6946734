"""Checks for optional packages; the error message names the extra of evercrawl that installs the missing one."""

from importlib.util import find_spec

from evercrawl.errors import ConfigError


def require(package: str, extra: str, what: str) -> None:
    """Check that an optional package is installed, before work that needs it begins.

    Raises
    ------
    ConfigError
        The package is not installed.

    Examples
    --------
    >>> require("no_such_package", "parquet", "Parquet files")
    Traceback (most recent call last):
    evercrawl.errors.ConfigError: Parquet files need no_such_package: pip install 'evercrawl[parquet]'
    """
    if find_spec(package) is None:
        raise ConfigError(f"{what} need {package}: pip install 'evercrawl[{extra}]'")


def require_parquet() -> None:
    """Check that Parquet files can be read and written.

    Raises
    ------
    ConfigError
        pyarrow is not installed.
    """
    require("pyarrow", "parquet", "Parquet files")
