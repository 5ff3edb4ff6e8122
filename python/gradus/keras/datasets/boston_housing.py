"""Prices of houses in Boston."""
from ._houses import load


def load_data(path="boston_housing.npz", test_split=0.2, seed=113):
    """((x_train, y_train), (x_test, y_test))."""
    return load(path, test_split, seed)
