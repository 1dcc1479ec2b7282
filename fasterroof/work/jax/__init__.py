"""The same question for JAX: a jaxpr's equations as operations."""
