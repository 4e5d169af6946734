"""Links, sites, and pages that say the same."""
