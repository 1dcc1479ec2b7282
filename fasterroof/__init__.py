"""How far is a model from as fast as this machine could run it, and what is in the way?

Names are handed out lazily (PEP 562): importing the package loads neither torch nor JAX nor plotly.
"""

__version__ = "0.1.0"

import sys as _sys
from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .contract.ceiling import (Bottleneck as Bottleneck, HardwareProfile as HardwareProfile, RooflineCeiling as RooflineCeiling, compute_roofline as compute_roofline, roofline_arrays as roofline_arrays)
    from .contract.check import (ContractReport as ContractReport, check_contract as check_contract)
    from .contract.contract import (RooflineContract as RooflineContract, load_roofline_contract as load_roofline_contract, read_contract as read_contract)
    from .core.errors import (ContractError as ContractError, DeviceError as DeviceError, FasterroofError as FasterroofError, InputError as InputError, ModelError as ModelError, RunFileError as RunFileError, UncountedWarning as UncountedWarning)
    from .core.settings import (preserved as preserved)
    from .machine.chips import (Chip as Chip, chip as chip, chip_names as chip_names, read_chips as read_chips)
    from .machine.datasheet import (chip_roof as chip_roof)
    from .machine.detect import (HardwareDetector as HardwareDetector)
    from .machine.host import (environment as environment)
    from .machine.peaks import (HardwarePeaks as HardwarePeaks, clear_peaks_cache as clear_peaks_cache, measure_peaks as measure_peaks)
    from .machine.roof import (Ceiling as Ceiling, Level as Level, Link as Link, Mix as Mix, Roof as Roof)
    from .machine.specs import (HardwareSpecs as HardwareSpecs)
    from .prediction.decoder import (Generation as Generation)
    from .prediction.engine import (Engine as Engine)
    from .prediction.estimator import (JaxProfile as JaxProfile, PerformanceEstimator as PerformanceEstimator, RooflineMetrics as RooflineMetrics)
    from .prediction.model import (ModelSpec as ModelSpec, model_names as model_names, read_models as read_models)
    from .prediction.quantity import (BYTES_BF16 as BYTES_BF16, BYTES_FP16 as BYTES_FP16, BYTES_FP32 as BYTES_FP32, BYTES_FP4 as BYTES_FP4, BYTES_FP64 as BYTES_FP64, BYTES_FP8 as BYTES_FP8, BYTES_INT4 as BYTES_INT4, BYTES_INT8 as BYTES_INT8, BYTES_PER_PRECISION as BYTES_PER_PRECISION, BYTES_TF32 as BYTES_TF32, Q_ as Q_, ureg as ureg)
    from .prediction.result import (PerformanceProfile as PerformanceProfile, calc_bottleneck as calc_bottleneck)
    from .prediction.sweeps import (Sweep as Sweep)
    from .prediction.system import (Hardware as Hardware, SystemArchetype as SystemArchetype)
    from .roofline.analyzer import (RooflineAnalyzer as RooflineAnalyzer)
    from .roofline.join import (RooflinePoint as RooflinePoint, Total as Total)
    from .roofline.ranks import (measure_links as measure_links, merge_runs as merge_runs)
    from .roofline.run import (Run as Run)
    from .roofline.run_diff import (Diff as Diff, diff as diff)
    from .roofline.watching import (profile_step as profile_step, watch as watch)
    from .timing.clock import (Timing as Timing, time_call as time_call)
    from .timing.spans import (Span as Span, occupancy as occupancy)
    from .work.cost import (Work as Work, register_cost as register_cost, unregister_cost as unregister_cost)
    from .work.jax.rules import (register_jax_cost as register_jax_cost, unregister_jax_cost as unregister_jax_cost)
    from .work.op import (Op as Op, Trace as Trace)
    from .work.tracer import (trace as trace)

# The same table for the interpreter: room -> the names it hands out.
_ROOMS = {
    "contract.ceiling": "Bottleneck HardwareProfile RooflineCeiling compute_roofline roofline_arrays",
    "contract.check": "ContractReport check_contract",
    "contract.contract": "RooflineContract load_roofline_contract read_contract",
    "core.errors": "ContractError DeviceError FasterroofError InputError ModelError RunFileError UncountedWarning",
    "core.settings": "preserved",
    "machine.chips": "Chip chip chip_names read_chips",
    "machine.datasheet": "chip_roof",
    "machine.detect": "HardwareDetector",
    "machine.host": "environment",
    "machine.peaks": "HardwarePeaks clear_peaks_cache measure_peaks",
    "machine.roof": "Ceiling Level Link Mix Roof",
    "machine.specs": "HardwareSpecs",
    "prediction.decoder": "Generation",
    "prediction.engine": "Engine",
    "prediction.estimator": "JaxProfile PerformanceEstimator RooflineMetrics",
    "prediction.model": "ModelSpec model_names read_models",
    "prediction.quantity": "BYTES_BF16 BYTES_FP16 BYTES_FP32 BYTES_FP4 BYTES_FP64 BYTES_FP8 BYTES_INT4 BYTES_INT8 BYTES_PER_PRECISION BYTES_TF32 Q_ ureg",
    "prediction.result": "PerformanceProfile calc_bottleneck",
    "prediction.sweeps": "Sweep",
    "prediction.system": "Hardware SystemArchetype",
    "roofline.analyzer": "RooflineAnalyzer",
    "roofline.join": "RooflinePoint Total",
    "roofline.ranks": "measure_links merge_runs",
    "roofline.run": "Run",
    "roofline.run_diff": "Diff diff",
    "roofline.watching": "profile_step watch",
    "timing.clock": "Timing time_call",
    "timing.spans": "Span occupancy",
    "work.cost": "Work register_cost unregister_cost",
    "work.jax.rules": "register_jax_cost unregister_jax_cost",
    "work.op": "Op Trace",
    "work.tracer": "trace",
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names.split()}
__all__ = list(_ROOM_OF)


def __getattr__(name: str):
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_import_module(f".{_ROOM_OF[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
