"""How long did it take? Repeated calls, and the spans of one run attributed to operations."""

import lazy_loader as _lazy

# The names are in __init__.pyi, where type checkers read them, too.
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
