"""Operators in a profiler's recording: the overload that was called, and its cost."""
