"""Claims of the papers that have no figure, one experiment each."""
