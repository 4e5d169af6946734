"""Drawing of figures, for experiments and for the command line."""
