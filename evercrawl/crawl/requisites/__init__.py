"""What archived pages need to be shown as browsers show it: fetched beside the pages, within a share of the budget."""
