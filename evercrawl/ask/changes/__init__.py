"""What changed: pages that appeared, changed or vanished, their versions, and who is told."""
