"""What a run looks like: figures, tables, pages, timelines. No number is computed here."""
