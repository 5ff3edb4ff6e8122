"""Texts, sequences and images, by the names of Keras 2, which many programs still use."""
from ..utils import (  # noqa: F401
    image_dataset_from_directory, text_dataset_from_directory, timeseries_dataset_from_array)
from . import image, sequence, text  # noqa: F401
