"""What experiments and measurements print: the verbs of `evercrawl lab` beside the experiments themselves."""
