"""Bodies parsed in other processes."""
