"""Rankings of pages and sites by importance, by its rise, and by when they fall due."""
