from . import autotuner, jit
