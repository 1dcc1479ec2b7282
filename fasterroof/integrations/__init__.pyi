from .job_files import merge_folder as merge_folder
from .traces import trace_handler as trace_handler
