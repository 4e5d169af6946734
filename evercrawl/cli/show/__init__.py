"""Output for people: tables, charts, progress, and formatting of numbers."""
