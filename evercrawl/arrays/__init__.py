"""Growable columns (in reserved address space, or by a quarter at a time), hashes, and numbering of keys and names."""

from evercrawl.arrays.addresses import Addresses
from evercrawl.arrays.names import NumberedNames
from evercrawl.arrays.numbering import Numbering
from evercrawl.arrays.reserved import reserve, reserve_together
from evercrawl.arrays.rows import Rows, grown
from evercrawl.arrays.saved import SavedRows

__all__ = ["Addresses", "NumberedNames", "Numbering", "Rows", "SavedRows", "grown", "reserve", "reserve_together"]
