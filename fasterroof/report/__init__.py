"""Views of a run: figures, tables, pages, timelines. No number is computed here."""
