from .ceiling import (
    Bottleneck as Bottleneck,
    HardwareProfile as HardwareProfile,
    RooflineCeiling as RooflineCeiling,
    compute_roofline as compute_roofline,
    roofline_arrays as roofline_arrays,
)
from .check import ContractReport as ContractReport, check_contract as check_contract
from .contract import (
    RooflineContract as RooflineContract,
    load_roofline_contract as load_roofline_contract,
    read_contract as read_contract,
)
