"""The policies, one a file or folder."""
