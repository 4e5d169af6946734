"""Second copies of partitions: their places, their writers, and how a lost partition is restored from one."""
