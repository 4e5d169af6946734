"""Unattended monitoring of a running crawl: a log file, and alerts."""
