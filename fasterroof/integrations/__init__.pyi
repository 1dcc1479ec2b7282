from .huggingface import HuggingFaceCallback as HuggingFaceCallback
from .jax_updates import profiled_update as profiled_update
from .job_files import merge_folder as merge_folder
from .lightning import LightningCallback as LightningCallback
from .magics import load_ipython_extension as load_ipython_extension
from .traces import trace_handler as trace_handler
