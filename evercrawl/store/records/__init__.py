"""One record for each page that was visited."""
