"""Object storage: S3, Google Cloud Storage, Azure, or a folder, as a place for exports and for the archive."""
