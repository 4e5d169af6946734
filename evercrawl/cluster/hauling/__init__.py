"""Moves of partitions between the machines of a cluster: their files go through the coordinator."""
