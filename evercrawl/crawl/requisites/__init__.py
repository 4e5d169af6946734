"""Requisites: what browsers need to show archived pages, fetched alongside them within a share of the budget."""
