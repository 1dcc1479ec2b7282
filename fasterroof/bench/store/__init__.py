"""Rows on disk: written as they come, queried, merged."""

STORE = "results/store"
"Where commands keep rows when no store is named."
