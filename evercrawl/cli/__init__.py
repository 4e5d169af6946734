"""The command line: one verb a file, each with `add(verbs)` that declares it and `run(args)` that does it."""
