"""Drawing, for experiments and for the command line."""
