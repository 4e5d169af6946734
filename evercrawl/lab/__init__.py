"""Experiments that reproduce published figures and claims, each with one command."""
