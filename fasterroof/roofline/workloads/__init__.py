"""What a session measures: a torch program, or a JAX function."""
