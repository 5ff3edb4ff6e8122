"""Cases for parameters of Keras: texts that real Keras (tools/make_keras_parameters_reference.py) and Gradus
(test_keras_parameters.py) evaluate. Every parameter of every public function and class of ours stands in one of them with
a value that is not its default, or has a reason in the test. DIFFERENT says of which cases our answer is another, and why.
"""
from . import layers, ops, others, training

FAMILIES = {"ops": ops, "layers": layers, "training": training, "others": others}
VALUES = [text for family in FAMILIES.values() for text in family.VALUES]
DIFFERENT = {text: why for family in FAMILIES.values() for text, why in family.DIFFERENT.items()}
