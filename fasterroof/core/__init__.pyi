from .errors import (
    CaseError as CaseError,
    ContractError as ContractError,
    DeviceBusy as DeviceBusy,
    DeviceError as DeviceError,
    FasterroofError as FasterroofError,
    InputError as InputError,
    ModelError as ModelError,
    RowError as RowError,
    RunFileError as RunFileError,
    UncountedWarning as UncountedWarning,
)
from .settings import preserved as preserved
