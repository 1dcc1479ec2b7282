"""How long did it take, for compiled JAX programs: their operations in the profiles of JAX."""
