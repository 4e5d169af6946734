"""The journal: an append-only log of events."""
