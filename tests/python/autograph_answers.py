"""What one program of autograph_programs.py gives, as plain JSON, the same way for TensorFlow and for Gradus."""
import answers
import autograph_programs
from autograph_programs import PROGRAMS, Py


def _argument(value, tf):
    if isinstance(value, Py):
        return value.value
    if value == []:
        return tf.zeros([0])
    return tf.constant(value)


def answers_of_call(function, call, tf, np):
    try:
        return answers.plain(function(*[_argument(v, tf) for v in call]), np)
    except Exception as error:  # noqa: BLE001
        names = [c.__name__ for c in type(error).__mro__ if c.__name__ not in ("object", "BaseException")]
        return {"error": names}


def answers_of(name, tf, np, decorate):
    function, calls = PROGRAMS[name]
    autograph_programs.tf = tf
    autograph_programs._kept.clear()
    made = decorate(function)
    return [answers_of_call(made, call, tf, np) for call in calls]
