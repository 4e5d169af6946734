"""Moves of partitions: orders, and how they are carried out; between machines, `hauling` does the rest."""
