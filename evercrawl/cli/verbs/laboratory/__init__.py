"""The verbs of `evercrawl lab`: experiments, and measurements on histories and simulated crawls."""
