"""Verification of the consistency of a crawl directory."""
