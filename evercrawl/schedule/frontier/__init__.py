"""The frontier: the choice of the next pages among those of hosts that are ready for a request."""
