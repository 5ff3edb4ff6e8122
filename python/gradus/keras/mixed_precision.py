"""Mixed precision: layers that compute in half precision with weights in float32."""
from .dtype_policies import DTypePolicy, dtype_policy, set_dtype_policy

Policy = DTypePolicy
global_policy, set_global_policy = dtype_policy, set_dtype_policy


def __getattr__(name):
    if name == "LossScaleOptimizer":
        from .optimizers import LossScaleOptimizer
        return LossScaleOptimizer
    raise AttributeError(f"module 'keras.mixed_precision' has no attribute '{name}'")
