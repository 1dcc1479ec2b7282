"""Cost rules of operators, by family; importing this registers them all."""

from . import attention, comm, contractions, elementwise, generated, linalg, movement, reductions, sampling

__all__ = ["attention", "comm", "contractions", "elementwise", "generated", "linalg", "movement", "reductions", "sampling"]
