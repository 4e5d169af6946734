"""The living web of the demonstration, with its ground truth."""
