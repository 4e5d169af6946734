"""Links, sites, and duplicate pages."""
