"""The clocks of folders, which measure how exposed copies are to change."""
