"""A small text, its letters as numbers, and windows of it."""
import numpy as np

RHYME = """the rain in spain stays mainly in the plain and the train to maine came late again
the plane from spain flew over the plain and the rain came down on the plane again
""" * 6
LETTERS = sorted(set(RHYME))


def windows(length=16, step=3):
    """Windows of letter numbers (n, length), and for each the same window one letter later."""
    numbers = np.array([LETTERS.index(c) for c in RHYME])
    starts = range(0, len(numbers) - length - 1, step)
    return (np.stack([numbers[i:i + length] for i in starts]), np.stack([numbers[i + 1:i + 1 + length] for i in starts]))
