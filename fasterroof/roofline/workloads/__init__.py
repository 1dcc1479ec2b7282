"""Measured workloads: a torch program, or a JAX function."""
