"""The exceptions that evercrawl raises.

* EvercrawlError
  + ConfigError    a setting, flag or input is wrong; the user can correct it
  + StoreError     the store is damaged, or in use by another process
    - NoRoomError  the disk is full
  + NoMemoryError  memory is used up
  + NotHeldError   no content of a page is held
* ApplyError       a bug: memory is no longer what the journal says

A fault of the web is an `Outcome` on a `Visit`. A fault of the user or the disk is one of these, and its message says
what to do next. A bug is an `assert`.
"""


class EvercrawlError(Exception):
    """Base class of all; `exit_code` is the exit code of the command line."""

    exit_code = 1


class ConfigError(EvercrawlError):
    """A setting, flag or input is wrong; the user can correct it."""

    exit_code = 2


class StoreError(EvercrawlError):
    """The store is damaged, or in use by another process."""

    exit_code = 3


class NoRoomError(StoreError):
    """The disk is full; a restart resumes the crawl without losing acknowledged pages."""

    exit_code = 4


class NoMemoryError(EvercrawlError):
    """Memory is used up; a restart with more resumes the crawl without losing acknowledged pages."""

    exit_code = 6


class ApplyError(Exception):
    """Our own code failed while memory was changed, so that it is to be made again from the journal.

    Attributes
    ----------
    visits
        Of the run that ended by it, learned before.
    """

    def __init__(self, why: str, visits: int = 0) -> None:
        super().__init__(why)
        self.visits = visits


class NotReadyError(EvercrawlError):
    """What was asked for is being made; asking again later helps."""


class NotHeldError(EvercrawlError):
    """The crawl holds no content for a URL; the message says why.

    Attributes
    ----------
    page
        The page of the crawl whose content it would be, if it were fetched; "" where there is none.
    """

    def __init__(self, message: str, page: str = "") -> None:
        super().__init__(message)
        self.page = page
