"""Policies that poll simulated pages."""
