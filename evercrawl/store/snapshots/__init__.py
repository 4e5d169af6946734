"""What memory holds, on the disk: saved at the cost of what changed, and taken up again at a start."""
