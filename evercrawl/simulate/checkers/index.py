"""Search index: its contents match the records, whatever was lost between two commits."""

from typing import ClassVar

from evercrawl.ask.verify.findings import Findings
from evercrawl.ask.verify.index import check_index
from evercrawl.simulate.checkers.base import Checker


class IndexFollows(Checker):
    """After a clean end the index is current or says that it is not; if current, its contents are correct."""

    law: ClassVar[str] = "journal = index"

    def ended(self, at: float, *, clean: bool) -> None:
        """Compare index and records after a clean end."""
        life, self._life = self._life, None
        if life is None or not clean or life.index is None:
            return
        found = Findings()
        check_index(life.partition, life.index, found)
        for sentence in found.wrong:
            self.blame(sentence)
        if life.last and found.mends:
            self.blame(f"after a long while in which nothing went wrong, {found.mends[0]}")
