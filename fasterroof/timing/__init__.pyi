from .clock import Timing as Timing, time_call as time_call
from .spans import Span as Span, occupancy as occupancy
