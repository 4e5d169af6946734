"""A second copy of what a partition cannot do without, on another disk: its keeper has synced it before it counts."""
