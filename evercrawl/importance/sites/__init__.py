"""What is asked of the results: sites, farms, agreement."""
