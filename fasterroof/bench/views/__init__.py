"""Views of rows and verdicts: reports, matrices, bundles."""
