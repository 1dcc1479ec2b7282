"""The page of a run: figures and a table that follow one selection."""
