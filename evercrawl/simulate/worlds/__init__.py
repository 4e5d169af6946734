"""Random worlds and webs."""
