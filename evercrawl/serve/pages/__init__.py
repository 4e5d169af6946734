"""The pages for browsers, one a file."""
