"""The policy and importance scheme of a crawl: creation, learning from visits, and planning."""
