"""Clock, network, names, disk and weather of a simulated world."""
