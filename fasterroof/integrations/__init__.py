"""Adapters for trainers, profilers, notebooks and agents."""

import lazy_loader as _lazy

# The names are in __init__.pyi, where type checkers read them, too.
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
