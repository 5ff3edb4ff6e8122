"""Prices of houses in California."""
from ._houses import load


def load_data(version="large", path="california_housing.npz", test_split=0.2, seed=113):
    """((x_train, y_train), (x_test, y_test))."""
    if version not in ("small", "large"):
        raise ValueError(f"Argument `version` must be one of 'small', 'large'. Received: version={version}")
    return load(path, test_split, seed, 600 if version == "small" else None)
