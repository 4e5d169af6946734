"""What people see: tables, charts, progress, words."""
