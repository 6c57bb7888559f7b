"""Row-wise operators and a matrix product in Triton."""
from triton_ops.cross_entropy import cross_entropy
from triton_ops.layer_norm import layer_norm
from triton_ops.matmul import matmul
from triton_ops.rms_norm import rms_norm
from triton_ops.softmax import softmax

__all__ = ["cross_entropy", "layer_norm", "matmul", "rms_norm", "softmax"]
