"""Experiments: the published figures and claims, made again by one command each."""
