"""`/api/v1`: one resource a file."""
