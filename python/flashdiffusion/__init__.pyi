from . import conventions as conventions, md as md, plot as plot, scanpy as scanpy
from .conventions import bandwidth as bandwidth
from .decoder import Decoder as Decoder
from .diffusion_map import DiffusionMap as DiffusionMap
from .distances import diffusion_distances as diffusion_distances, pseudotime as pseudotime
from .forecast import estimate as estimate
from .kernel_product import kernel_matmul as kernel_matmul
from .operators import DiffusionOperator as DiffusionOperator, KernelOperator as KernelOperator
from .warnings import ConvergenceWarning as ConvergenceWarning, DataWarning as DataWarning, FlashDiffusionWarning as FlashDiffusionWarning

__version__: str
