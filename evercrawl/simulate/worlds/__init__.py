"""Worlds and webs drawn from a seed."""
