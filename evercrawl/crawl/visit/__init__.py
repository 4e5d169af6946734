"""One visit: a page is requested, and its answer judged."""
