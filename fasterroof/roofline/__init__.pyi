from .analyzer import RooflineAnalyzer as RooflineAnalyzer
from .point import RooflinePoint as RooflinePoint, Total as Total
from .ranks import measure_links as measure_links, merge_runs as merge_runs
from .run import Run as Run
from .run_diff import Diff as Diff, diff as diff
from .watching import profile_step as profile_step, watch as watch
