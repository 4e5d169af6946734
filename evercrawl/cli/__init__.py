"""The command line: one file per verb, with `add(verbs)` to declare it and `run(args)` to execute it."""
