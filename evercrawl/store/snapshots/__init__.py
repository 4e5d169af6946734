"""Snapshots of memory on the disk, at the cost of what changed; a start restores the newest one."""
