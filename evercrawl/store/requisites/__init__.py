"""What pages need to be shown as browsers show them: a table that follows from the journal."""
