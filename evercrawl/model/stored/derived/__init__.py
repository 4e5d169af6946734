"""Derived files in `derived/`: visits by page, links by target, counts by minute; rebuilt from the journal."""
