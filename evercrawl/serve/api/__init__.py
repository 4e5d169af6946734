"""The HTTP API `/api/v1`, one group of resources per file."""
