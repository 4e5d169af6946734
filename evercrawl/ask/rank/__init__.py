"""Which pages and sites matter most, and which begin to."""
