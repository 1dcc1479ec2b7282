"""How far is a model from as fast as this machine could run it, and what is in the way?

Names are handed out lazily (PEP 562): importing the package loads neither torch nor JAX nor plotly.
"""

__version__ = "0.1.0"

import sys as _sys
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .archetype import Hardware as Hardware, SystemArchetype as SystemArchetype
    from .chips import chip as chip, chip_names as chip_names, read_chips as read_chips
    from .clock import Timing as Timing, time_call as time_call
    from .compare import Diff as Diff, diff as diff
    from .contract import (
        RooflineContract as RooflineContract,
        load_roofline_contract as load_roofline_contract,
        read_contract as read_contract,
    )
    from .contractcheck import ContractReport as ContractReport, check_contract as check_contract
    from .contractroof import (
        Bottleneck as Bottleneck,
        HardwareProfile as HardwareProfile,
        RooflineCeiling as RooflineCeiling,
        compute_roofline as compute_roofline,
        roofline_arrays as roofline_arrays,
    )
    from .datasheet import chip_roof as chip_roof
    from .decoder import Generation as Generation
    from .engine import Engine as Engine
    from .env import environment as environment, preserved as preserved
    from .errors import (
        ContractError as ContractError,
        DeviceError as DeviceError,
        FasterroofError as FasterroofError,
        InputError as InputError,
        ModelError as ModelError,
        RunFileError as RunFileError,
        UncountedWarning as UncountedWarning,
    )
    from .estimator import PerformanceEstimator as PerformanceEstimator
    from .figures import Chip as Chip
    from .hardware import HardwareDetector as HardwareDetector
    from .jaxprofile import JaxProfile as JaxProfile
    from .jaxrules import register_jax_cost as register_jax_cost, unregister_jax_cost as unregister_jax_cost
    from .join import RooflinePoint as RooflinePoint
    from .links import measure_links as measure_links
    from .metrics import RooflineMetrics as RooflineMetrics
    from .models import model_names as model_names, read_models as read_models
    from .modelspec import ModelSpec as ModelSpec
    from .ops import Work as Work, register_cost as register_cost, unregister_cost as unregister_cost
    from .peaks import clear_peaks_cache as clear_peaks_cache, measure_peaks as measure_peaks
    from .prediction import PerformanceProfile as PerformanceProfile, calc_bottleneck as calc_bottleneck
    from .quantity import (
        BYTES_BF16 as BYTES_BF16,
        BYTES_FP4 as BYTES_FP4,
        BYTES_FP8 as BYTES_FP8,
        BYTES_FP16 as BYTES_FP16,
        BYTES_FP32 as BYTES_FP32,
        BYTES_FP64 as BYTES_FP64,
        BYTES_INT4 as BYTES_INT4,
        BYTES_INT8 as BYTES_INT8,
        BYTES_PER_PRECISION as BYTES_PER_PRECISION,
        BYTES_TF32 as BYTES_TF32,
        Q_ as Q_,
        ureg as ureg,
    )
    from .ranks import merge_runs as merge_runs
    from .record import HardwarePeaks as HardwarePeaks
    from .roof import Ceiling as Ceiling, Level as Level, Link as Link, Mix as Mix, Roof as Roof
    from .roofline import RooflineAnalyzer as RooflineAnalyzer
    from .run import Run as Run
    from .spans import Span as Span, occupancy as occupancy
    from .specs import HardwareSpecs as HardwareSpecs
    from .sweep import Sweep as Sweep
    from .totals import Total as Total
    from .trace import trace as trace
    from .watching import profile_step as profile_step, watch as watch
    from .work import Op as Op, Trace as Trace

# The same table for the interpreter: room -> the names it hands out.
_ROOMS = {
    "archetype": "Hardware SystemArchetype",
    "chips": "chip chip_names read_chips",
    "clock": "Timing time_call",
    "compare": "Diff diff",
    "contract": "RooflineContract load_roofline_contract read_contract",
    "contractcheck": "ContractReport check_contract",
    "contractroof": "Bottleneck HardwareProfile RooflineCeiling compute_roofline roofline_arrays",
    "datasheet": "chip_roof",
    "decoder": "Generation",
    "engine": "Engine",
    "env": "environment preserved",
    "errors": "ContractError DeviceError FasterroofError InputError ModelError RunFileError UncountedWarning",
    "estimator": "PerformanceEstimator",
    "figures": "Chip",
    "hardware": "HardwareDetector",
    "jaxprofile": "JaxProfile",
    "jaxrules": "register_jax_cost unregister_jax_cost",
    "join": "RooflinePoint",
    "links": "measure_links",
    "metrics": "RooflineMetrics",
    "models": "model_names read_models",
    "modelspec": "ModelSpec",
    "ops": "Work register_cost unregister_cost",
    "peaks": "clear_peaks_cache measure_peaks",
    "prediction": "PerformanceProfile calc_bottleneck",
    "quantity": "BYTES_BF16 BYTES_FP4 BYTES_FP8 BYTES_FP16 BYTES_FP32 BYTES_FP64 BYTES_INT4 BYTES_INT8 "
                "BYTES_PER_PRECISION BYTES_TF32 Q_ ureg",
    "ranks": "merge_runs",
    "record": "HardwarePeaks",
    "roof": "Ceiling Level Link Mix Roof",
    "roofline": "RooflineAnalyzer",
    "run": "Run",
    "spans": "Span occupancy",
    "specs": "HardwareSpecs",
    "sweep": "Sweep",
    "totals": "Total",
    "trace": "trace",
    "watching": "profile_step watch",
    "work": "Op Trace",
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names.split()}
__all__ = list(_ROOM_OF)


def __getattr__(name: str):
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_import_module(f".{_ROOM_OF[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(_ModuleType):
    "Importing a room sets it as an attribute here; the function `trace` keeps its name from the room `trace`."

    def __setattr__(self, name: str, value: object) -> None:
        if _ROOM_OF.get(name) == name and isinstance(value, _ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Package
