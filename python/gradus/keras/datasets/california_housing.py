"""Prices of houses in California."""
import numpy as np

from ._houses import load


def load_data(version="large", path="california_housing.npz", test_split=0.2, seed=113):
    """((x_train, y_train), (x_test, y_test))."""
    if version not in ("small", "large"):
        raise ValueError(f"Argument `version` must be one of 'small', 'large'. Received: version={version}")
    parts = load(path, test_split, seed, 600 if version == "small" else None)
    return tuple((x.astype(np.float32), y.astype(np.float32)) for x, y in parts)
