"""What pages do: how often they change, how much, how long they last, and whether that is as by chance."""
