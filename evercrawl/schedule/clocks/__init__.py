"""How exposed copies are to change: clocks of folders."""
