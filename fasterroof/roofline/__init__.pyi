from .analyzer import RooflineAnalyzer as RooflineAnalyzer, profile as profile
from .point import RooflinePoint as RooflinePoint, Total as Total
from .links import measure_links as measure_links
from .ranks import merge_runs as merge_runs
from .run import Run as Run
from .compare.run_diff import Diff as Diff, diff as diff
from .watching import profile_step as profile_step, watch as watch
