"""A contest that others can enter: their policies beside all of ours, on histories that ship and on made-up pages."""
