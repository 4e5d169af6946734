"""Second copies of a partition's essential files on another disk; events count once the keeper has synced them."""
