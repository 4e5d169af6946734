"""Promises that hold in every world, each held by a checker that watches every visit."""
