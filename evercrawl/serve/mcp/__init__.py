"""The crawl for AI assistants: the Model Context Protocol over standard input and output, or HTTP."""
