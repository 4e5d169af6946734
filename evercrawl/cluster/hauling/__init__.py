"""Moves of partitions between the machines of a cluster; files are sent through the coordinator."""
