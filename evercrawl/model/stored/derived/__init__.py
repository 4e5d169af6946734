"""Derived files: visits by page, links by target and minutes, in `derived/`; made again from the journal when lost."""
