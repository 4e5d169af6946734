"""What publishers say has changed: IndexNow and WebSub, on a port of their own."""
