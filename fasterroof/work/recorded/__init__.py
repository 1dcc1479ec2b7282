"""What a profiler recorded of operators: which overload was called, and what that cost."""
