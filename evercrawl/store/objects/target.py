"""A place in object storage for copies of files, given by its URL."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from evercrawl.errors import ConfigError, StoreError
from evercrawl.extras import require

if TYPE_CHECKING:
    from obstore.store import ObjectStore

SCHEMES: Final = ("s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "adl", "file")
_PIECE: Final = 8 << 20  # bytes read and sent at once
_RETRIES: Final = 3
_RETRY: Final = timedelta(seconds=30)
_HINT: Final = (
    "check the bucket's name and the credentials, which the environment gives (AWS_ACCESS_KEY_ID, "
    "AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL, GOOGLE_SERVICE_ACCOUNT, AZURE_STORAGE_ACCOUNT_NAME, ...)"
)


def is_url(text: str) -> bool:
    """Return whether a name is a URL of object storage rather than a file name.

    Examples
    --------
    >>> is_url("s3://bucket/pages.parquet"), is_url("pages.parquet"), is_url("-")
    (True, False, False)
    """
    return text.partition("://")[0] in SCHEMES and "://" in text


class ObjectTarget:
    """A prefix in a bucket; with the scheme `file`, a folder.

    Parameters
    ----------
    url
        For example `s3://bucket/prefix`. Credentials and endpoint are taken from the environment.

    Raises
    ------
    ConfigError
        The URL is not one of object storage, or the required package is not installed.
    """

    def __init__(self, url: str) -> None:
        if not is_url(url):
            raise ConfigError(
                f"{url} is not a URL of object storage: use {', '.join(f'{s}://' for s in SCHEMES[:4])} or file://"
            )
        if "@" in url.partition("://")[2].partition("/")[0]:
            raise ConfigError("a URL of object storage must not contain credentials; set them in the environment")
        require("obstore", "cloud", "object storage")
        self.url = url.rstrip("/")
        self._store = _open(self.url)

    def size(self, name: str) -> int | None:
        """Return the size of an object in bytes; None if there is none.

        Raises
        ------
        StoreError
            The storage does not answer.
        """
        import obstore

        try:
            return int(obstore.head(self._store, name)["size"])
        except FileNotFoundError:
            return None
        except (obstore.exceptions.BaseError, OSError) as error:
            raise self._trouble("read", name, error) from error

    def put(self, path: Path, name: str) -> int:
        """Copy a file, and return its size; the object appears only when complete.

        Raises
        ------
        StoreError
            The file cannot be read, the storage refused, or the object has a different size afterwards.
        """
        import obstore

        sent = 0

        def pieces() -> Iterator[bytes]:
            nonlocal sent
            with path.open("rb") as file:
                while piece := file.read(_PIECE):
                    sent += len(piece)
                    yield piece

        try:
            if path.stat().st_size <= _PIECE:
                sent = len(data := path.read_bytes())
                obstore.put(self._store, name, data)
            else:
                obstore.put(self._store, name, pieces(), chunk_size=_PIECE)
        except (obstore.exceptions.BaseError, OSError) as error:
            raise self._trouble("write", name, error) from error
        if (there := self.size(name)) != sent:
            raise StoreError(f"{self.url}/{name} has {there} bytes where {sent} were sent; copy it again")
        return sent

    def get(self, name: str, start: int = 0, size: int | None = None) -> bytes:
        """Return an object, or `size` bytes of it from `start` on.

        Raises
        ------
        StoreError
            There is no such object, or the storage does not answer.
        """
        import obstore

        try:
            if size is None:
                return bytes(obstore.get(self._store, name).bytes())[start:]
            return bytes(obstore.get_range(self._store, name, start=start, length=size))
        except (obstore.exceptions.BaseError, OSError) as error:
            raise self._trouble("read", name, error) from error

    def names(self) -> list[str]:
        """Return the names of all objects under the prefix, in order.

        Raises
        ------
        StoreError
            The storage does not answer.
        """
        import obstore

        try:
            pages: Any = cast("Any", obstore).list(self._store)
            return sorted(str(each["path"]) for page in pages for each in page)
        except (obstore.exceptions.BaseError, OSError) as error:
            raise self._trouble("list", "", error) from error

    def _trouble(self, action: str, name: str, error: Exception) -> StoreError:
        first = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        return StoreError(f"cannot {action} {self.url}/{name}: {first[:300]}; {_HINT}")


def put_file(path: Path, url: str) -> int:
    """Copy a file to an object given by its whole URL, and return its size.

    Raises
    ------
    ConfigError, StoreError
        As `ObjectTarget`.
    """
    folder, name = url_parts(url)
    return ObjectTarget(folder).put(path, name)


def url_parts(url: str) -> tuple[str, str]:
    """Return the folder and the name in the URL of an object.

    Raises
    ------
    ConfigError
        It does not name an object.

    Examples
    --------
    >>> url_parts("s3://bucket/today/pages.parquet")
    ('s3://bucket/today', 'pages.parquet')
    """
    folder, _, name = url.rpartition("/")
    if not name or folder.endswith(":/"):
        raise ConfigError(f"{url} names no object: end it in a name, such as s3://bucket/pages.parquet")
    return folder, name


def _open(url: str) -> ObjectStore:
    import obstore
    from obstore.store import from_url

    retry: Any = {"max_retries": _RETRIES, "retry_timeout": _RETRY}
    try:
        if url.startswith("file:"):
            return from_url(url, mkdir=True)
        return from_url(url, retry_config=retry)
    except (obstore.exceptions.BaseError, ValueError, OSError) as error:
        raise ConfigError(f"{url} cannot be opened: {error}; {_HINT}") from error
