"""Nothing learned is lost: journal, table, snapshots, archive."""
