"""Why a page is visited when it is, or is not."""
