"""Requisites of pages: files that browsers need to show them, in a table derived from the journal."""
