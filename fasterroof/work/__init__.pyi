from .cost import register_cost as register_cost, unregister_cost as unregister_cost
from .hubs.loading import Loaded as Loaded, load as load
from .jax.rules import (
    register_jax_cost as register_jax_cost,
    unregister_jax_cost as unregister_jax_cost,
)
from .op import Op as Op, Trace as Trace
from .rulebook import Work as Work
from .tracer import trace as trace
