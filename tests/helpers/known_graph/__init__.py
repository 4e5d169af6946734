"""OPIC over a graph that is known, compiled, and the compiled loops once more in plain Python."""
