"""What a budget buys."""
