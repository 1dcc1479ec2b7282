from .chip_figures import Chip as Chip
from .chips import chip as chip, chip_names as chip_names, read_chips as read_chips
from .datasheet import chip_roof as chip_roof
from .detect import HardwareDetector as HardwareDetector
from .host import environment as environment
from .measuring import clear_peaks_cache as clear_peaks_cache, measure_peaks as measure_peaks
from .peaks import HardwarePeaks as HardwarePeaks
from .roof import Ceiling as Ceiling, Level as Level, Link as Link, Mix as Mix, Roof as Roof
from .specs import HardwareSpecs as HardwareSpecs
