"""Cost rules: what each operator computes and moves. Importing this package registers all of them."""
from . import (
    attention,
    collectives,
    contractions,
    elementwise,
    extensions,
    linalg,
    movement,
    quantized,
    reductions,
    sampling,
)

__all__ = [
    "attention",
    "collectives",
    "contractions",
    "elementwise",
    "extensions",
    "linalg",
    "movement",
    "quantized",
    "reductions",
    "sampling",
]
