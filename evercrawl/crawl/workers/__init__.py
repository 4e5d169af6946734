"""Bodies read by other processes."""
