"""One page with every row of a store."""
