"""Invariants that hold in every world, each verified by a checker that observes every visit."""
