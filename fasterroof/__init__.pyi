from . import (
    bench as bench,
    cli as cli,
    contract as contract,
    core as core,
    integrations as integrations,
    machine as machine,
    prediction as prediction,
    report as report,
    roofline as roofline,
    timing as timing,
    work as work,
)
from .contract.ceiling import (
    Bottleneck as Bottleneck,
    HardwareProfile as HardwareProfile,
    RooflineCeiling as RooflineCeiling,
    compute_roofline as compute_roofline,
    roofline_arrays as roofline_arrays,
)
from .contract.check import check_contract as check_contract
from .contract.contract import (
    RooflineContract as RooflineContract,
    load_roofline_contract as load_roofline_contract,
)
from .core.errors import FasterroofError as FasterroofError
from .integrations.huggingface import HuggingFaceCallback as HuggingFaceCallback
from .integrations.jax_updates import profiled_update as profiled_update
from .integrations.job_files import merge_folder as merge_folder
from .integrations.lightning import LightningCallback as LightningCallback
from .integrations.magics import load_ipython_extension as load_ipython_extension
from .integrations.traces import trace_handler as trace_handler
from .machine.datasheet import chip_roof as chip_roof
from .machine.detect import HardwareDetector as HardwareDetector
from .machine.measuring import clear_peaks_cache as clear_peaks_cache, measure_peaks as measure_peaks
from .machine.peaks import HardwarePeaks as HardwarePeaks
from .machine.roof import Roof as Roof
from .machine.specs import HardwareSpecs as HardwareSpecs
from .prediction.calibrated.measured.calibrating import calibrate as calibrate
from .prediction.engine import Engine as Engine
from .prediction.estimator import (
    JaxProfile as JaxProfile,
    PerformanceEstimator as PerformanceEstimator,
    RooflineMetrics as RooflineMetrics,
)
from .prediction.model import ModelSpec as ModelSpec
from .prediction.predicting import predict as predict
from .prediction.quantity import (
    BYTES_BF16 as BYTES_BF16,
    BYTES_FP16 as BYTES_FP16,
    BYTES_FP32 as BYTES_FP32,
    BYTES_FP4 as BYTES_FP4,
    BYTES_FP64 as BYTES_FP64,
    BYTES_FP8 as BYTES_FP8,
    BYTES_INT4 as BYTES_INT4,
    BYTES_INT8 as BYTES_INT8,
    BYTES_PER_PRECISION as BYTES_PER_PRECISION,
    BYTES_TF32 as BYTES_TF32,
    Q_ as Q_,
    ureg as ureg,
)
from .prediction.result import (
    PerformanceProfile as PerformanceProfile,
    calc_bottleneck as calc_bottleneck,
)
from .prediction.sweeps import Sweep as Sweep
from .prediction.system import Hardware as Hardware, SystemArchetype as SystemArchetype
from .roofline.analyzer import RooflineAnalyzer as RooflineAnalyzer, profile as profile
from .roofline.point import RooflinePoint as RooflinePoint
from .roofline.ranks import merge_runs as merge_runs
from .roofline.run import Run as Run
from .roofline.compare.run_diff import diff as diff
from .roofline.watching import profile_step as profile_step, watch as watch
from .timing.clock import time_call as time_call
from .work.cost import register_cost as register_cost
from .work.hubs.loading import load as load
from .work.jax.rules import register_jax_cost as register_jax_cost
from .work.rulebook import Work as Work
from .work.tracer import trace as trace

__version__: str
