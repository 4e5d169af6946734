"""Choice: which page next, among those of hosts that have rested."""
