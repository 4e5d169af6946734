"""Clock, network, names, disk and weather of a made-up world."""
