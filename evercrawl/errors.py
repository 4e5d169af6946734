"""The exceptions that evercrawl raises.

* EvercrawlError
  + ConfigError    a setting, flag or input is wrong; the user can correct it
  + StoreError     the store is damaged, or in use by another process
    - NoRoomError  the disk is full
    - CeilingError a partition is as large as it can become
  + NoMemoryError  memory is exhausted
  + NotReadyError  the result is still being computed
  + NotHeldError   the crawl holds no content for a URL
* ApplyError       a bug: the state in memory no longer matches the journal

A fault of the web is an `Outcome` on a `Visit`. A fault of the user or the disk is one of these, and its message says
what to do next. A bug is an `assert`.
"""


class EvercrawlError(Exception):
    """Base class of evercrawl's exceptions.

    Attributes
    ----------
    exit_code
        The exit code of the command line.
    partition, machine
        Of a crawl in several partitions: the partition that failed, if it was one, and its machine.
    """

    exit_code = 1
    partition: int | None = None
    machine = ""


class ConfigError(EvercrawlError):
    """A setting, flag or input is wrong; the user can correct it."""

    exit_code = 2


class StoreError(EvercrawlError):
    """The store is damaged, or in use by another process."""

    exit_code = 3


class NoRoomError(StoreError):
    """The disk is full; a restart resumes the crawl without losing acknowledged pages."""

    exit_code = 4


class CeilingError(StoreError):
    """A partition is as large as it can become; acknowledged pages are safe, and questions are still answered."""


class NoMemoryError(EvercrawlError):
    """Memory is exhausted; a restart with more memory resumes the crawl without losing acknowledged pages."""

    exit_code = 6


class ApplyError(Exception):
    """A bug while events were applied to the state in memory, which must be replayed from the journal.

    Attributes
    ----------
    visits
        Number of visits that the run had learned before the error ended it.
    """

    def __init__(self, why: str, visits: int = 0) -> None:
        super().__init__(why)
        self.visits = visits


class NotReadyError(EvercrawlError):
    """The result is still being computed; ask again later."""


class NotHeldError(EvercrawlError):
    """The crawl holds no content for a URL; the message says why.

    Attributes
    ----------
    page
        The page of the crawl that would hold this content if it were fetched; "" if there is none.
    """

    def __init__(self, message: str, page: str = "") -> None:
        super().__init__(message)
        self.page = page
