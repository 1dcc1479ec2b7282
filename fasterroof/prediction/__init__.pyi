from .calibrated.machine_calibration import (
    MachineCalibration as MachineCalibration,
    load_calibrations as load_calibrations,
    save_calibrations as save_calibrations,
)
from .calibrated.measured.calibrating import calibrate as calibrate
from .decoder import Generation as Generation
from .engine import Engine as Engine
from .estimator import (
    JaxProfile as JaxProfile,
    PerformanceEstimator as PerformanceEstimator,
    RooflineMetrics as RooflineMetrics,
)
from .model import ModelSpec as ModelSpec, model_names as model_names, read_models as read_models
from .predicting import predict as predict
from .quantity import (
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
from .result import PerformanceProfile as PerformanceProfile, calc_bottleneck as calc_bottleneck
from .sweeps import Sweep as Sweep
from .system import Hardware as Hardware, SystemArchetype as SystemArchetype
