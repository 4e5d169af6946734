"""Many partitions that share one web."""
