"""Deterministic simulation: the shipped program with a virtual clock, and a network and disk that fail on command."""
