"""What of a page's history still counts: the windows of Adaptive OPIC, one a file."""

from evercrawl.importance.windows.base import Past, Pasts, Window

__all__ = ["Past", "Pasts", "Window"]
