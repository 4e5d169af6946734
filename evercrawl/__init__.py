"""An importance-driven, incremental web crawler: it knows which page next."""

__version__ = "0.1.0"
__all__ = ["__version__"]
