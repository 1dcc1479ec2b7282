from .case import (
    Baseline as Baseline,
    Built as Built,
    Case as Case,
    Tolerance as Tolerance,
    find_cases as find_cases,
    load_case as load_case,
)
from .store.store import Store as Store
