"""A pytest plugin: assert roofline efficiency in tests, and run them against another revision."""
