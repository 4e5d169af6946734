"""What people search for and open."""
