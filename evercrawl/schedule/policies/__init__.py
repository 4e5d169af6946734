"""The policies, one per file or folder."""
