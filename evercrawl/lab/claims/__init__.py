"""Sentences of the papers that came without a figure, one experiment each, judged."""
