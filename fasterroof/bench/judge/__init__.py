"""Comparisons of rows: the differences, and whether they exceed the noise. No text is laid out here."""
