"""One visit: ask for a page, and judge the answer."""
