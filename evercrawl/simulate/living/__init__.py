"""The demonstration's living web, and the truth about it."""
