"""Object storage (S3, Google Cloud Storage, Azure, or a folder) for exports and copies of the archive."""
