"""What tells others of a running crawl while nobody looks: a log on the disk, and alerts."""
