"""Storage of a crawl: journal, table, snapshots, archive and the files beside them."""
