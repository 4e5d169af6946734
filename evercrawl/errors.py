"""Everything evercrawl raises on purpose.

* EvercrawlError
  + ConfigError    the person running the crawl can fix it
  + StoreError     the disk contradicts the journal, or the directory is not ours to open
    - NoRoomError  the disk is full

What the web does wrong is an `Outcome` on a `Visit`; what a person or a disk does wrong is one of these, and its
message says what to do next; what we do wrong is an `assert`.
"""


class EvercrawlError(Exception):
    """Root of the tree; `exit_code` is what the command line returns for it."""

    exit_code = 1


class ConfigError(EvercrawlError):
    """The person running the crawl can fix it."""

    exit_code = 2


class StoreError(EvercrawlError):
    """The disk contradicts the journal, or the directory belongs to another process."""

    exit_code = 3


class NoRoomError(StoreError):
    """The disk is full; nothing acknowledged is lost, and a restart goes on."""

    exit_code = 4
