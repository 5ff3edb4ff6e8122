"""All tests run with the check that every argument which is given to a function of the tables is read by it."""
import gradus

gradus._core._check_arguments(True)
