"""Web evolution: how often and how much pages change, how long they last, and whether changes are random."""
