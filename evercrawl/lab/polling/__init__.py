"""Policies polling made-up pages."""
