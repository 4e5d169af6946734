"""Types of the part of llvmlite that evercrawl uses."""

__version__: str
