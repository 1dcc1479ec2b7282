"""Rows on disk: written as they come, queried, merged."""
