"""All tests run with the check that every argument which is given to a function of the tables is read by it."""
import pytest

import gradus

gradus._core._check_arguments(True)


@pytest.fixture(autouse=True, scope="module")
def _as_without_a_global_seed():
    """A seed that tests of another file have set is gone: this is the one that ops with a seed of their own have without."""
    gradus.random.set_seed(87654321)
