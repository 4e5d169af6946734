"""Reading back what is kept."""
