"""Learning from visits: archive, events, cash, rates of change, queues and the search index."""
