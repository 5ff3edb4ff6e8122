"""The 8x8 digits that ship with the examples, as arrays."""
import pathlib

import numpy as np

FILE = pathlib.Path(__file__).resolve().parents[2] / "data/digits.txt"


def load():
    """(images, labels), (held-out images, their labels): images are (n, 8, 8, 1) in [0, 1]; every fifth is held out."""
    lines = [line for line in FILE.read_text().splitlines() if line and line[0] != "#"]
    labels = np.array([int(line[0]) for line in lines])
    pixels = np.array([["0123456789ABCDEFG".index(c) for c in line[2:]] for line in lines], np.float32)
    images = pixels.reshape(-1, 8, 8, 1) / 16
    held_out = np.arange(len(lines)) % 5 == 4
    return (images[~held_out], labels[~held_out]), (images[held_out], labels[held_out])
