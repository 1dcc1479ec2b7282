"""How far is a model from the speed that this machine allows, and what is in the way?

Three questions have a package each: `work`, `machine` and `timing`. `roofline` joins their answers; `report`,
`prediction`, `contract` and `bench` are views of that join; `cli` is the command, and `integrations` adapts them to other
programs' loops. `core` helps all of them.

Names load when they are used: importing the package loads neither torch nor JAX nor plotly.
"""

__version__ = "0.1.0"

import lazy_loader as _lazy

# The stub has every name that can be imported from here, those of the projects that fasterroof grew from among them.
__getattr__, _, _ = _lazy.attach_stub(__name__, __file__)

# What most people need. The other names are in their package.
__all__ = [
    "calibrate",
    "check_contract",
    "compute_roofline",
    "diff",
    "Engine",
    "FasterroofError",
    "HardwarePeaks",
    "HuggingFaceCallback",
    "LightningCallback",
    "load",
    "load_roofline_contract",
    "measure_peaks",
    "merge_folder",
    "merge_runs",
    "ModelSpec",
    "predict",
    "profile",
    "profile_step",
    "profiled_update",
    "register_cost",
    "Roof",
    "RooflineAnalyzer",
    "RooflinePoint",
    "Run",
    "Sweep",
    "SystemArchetype",
    "time_call",
    "trace",
    "trace_handler",
    "watch",
    "Work",
]


def __dir__() -> list[str]:
    return __all__.copy()
