"""Drawings of models, through Graphviz's program `dot`."""
import os
import shutil
import subprocess


def _label(layer, show_shapes, show_dtype, show_layer_names, show_layer_activations):
    from .._layer import Layer
    from .._summary import _output_shape
    title = type(layer).__name__
    if show_layer_names:
        title = f"{layer.name} ({title})"
    lines = [title]
    if show_layer_activations and getattr(layer, "activation", None) is not None:
        lines.append(f"Activation: {getattr(layer.activation, '__name__', type(layer.activation).__name__)}")
    if show_shapes:
        nodes = layer._inbound_nodes
        if nodes and nodes[0].inputs:
            lines.append("Input shape: " + ", ".join(str(x.shape) for x in nodes[0].inputs))
        lines.append("Output shape: " + _output_shape(layer))
    if show_dtype and isinstance(layer, Layer):
        lines.append(f"Output dtype: {layer.compute_dtype}")
    return "\\n".join(line.replace('"', "'") for line in lines)


class Dot:
    """The text of a drawing, with the methods of pydot that people use."""

    def __init__(self, text):
        self._text = text

    def to_string(self):
        return self._text

    def create(self, prog="dot", format="png"):  # noqa: A002
        """The picture as bytes."""
        if shutil.which(prog) is None:
            raise ImportError("You must install graphviz (the package of that name has its program `dot`) "
                              "for `plot_model` to work; the drawing itself is model_to_dot(model).to_string()")
        return subprocess.run([prog, f"-T{format}"], input=self._text.encode(), capture_output=True, check=True).stdout

    def write(self, path, prog="dot", format="png"):  # noqa: A002
        if format == "dot":
            data = self._text.encode()
        else:
            data = self.create(prog, format)
        with open(path, "wb") as file:
            file.write(data)
        return True


def model_to_dot(model, show_shapes=False, show_dtype=False, show_layer_names=True, rankdir="TB", expand_nested=False,
                 dpi=200,
                 subgraph=False, show_layer_activations=False, show_trainable=False, splines="ortho", **kwargs):
    """The model as a drawing for Graphviz."""
    from ..models import Functional, Sequential
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments: {kwargs}")
    lines = [f"rankdir={rankdir};", f"dpi={dpi};", f"splines={splines};", "node [shape=box];"]
    ids = {}

    def name_of(layer):
        return ids.setdefault(id(layer), f"n{len(ids)}")

    def draw(part, depth):
        if isinstance(part, Sequential):
            layers = part._layers
            edges = list(zip(layers, layers[1:]))
        elif isinstance(part, Functional):
            layers = part.operations
            belongs = set(part._graph.nodes)
            edges = [(x._keras_history[0], op) for op in layers for node in op._inbound_nodes if node in belongs
                     for x in node.inputs]
        else:
            layers, edges = part.layers, []
        for layer in layers:
            if expand_nested and isinstance(layer, (Sequential, Functional)):
                lines.append(f'subgraph cluster_{name_of(layer)} {{ label="{layer.name}";')
                draw(layer, depth + 1)
                lines.append("}")
            text = _label(layer, show_shapes, show_dtype, show_layer_names, show_layer_activations)
            if show_trainable and layer.weights:
                text += "\\n" + ("Trainable" if layer.trainable else "Non-trainable")
            lines.append(f'{name_of(layer)} [label="{text}"];')
        seen = set()
        for a, b in edges:
            if (id(a), id(b)) not in seen:
                seen.add((id(a), id(b)))
                lines.append(f"{name_of(a)} -> {name_of(b)};")

    draw(model, 0)
    body = "\n".join("  " + line for line in lines)
    head = f'subgraph cluster_{model.name} {{\n  label="{model.name}";' if subgraph else "digraph G {"
    return Dot(f"{head}\n{body}\n}}\n")


def plot_model(model, to_file="model.png", show_shapes=False, show_dtype=False, show_layer_names=False, rankdir="TB",
               expand_nested=False, dpi=200, show_layer_activations=False, show_trainable=False, splines="ortho", **kwargs):
    """Draws the model into a file; needs Graphviz."""
    if not model.built:
        raise ValueError("This model has not yet been built. Build the model first by calling `build()` or by calling "
                         "the model on a batch of data.")
    dot = model_to_dot(model, show_shapes, show_dtype, show_layer_names, rankdir, expand_nested, dpi,
                       show_layer_activations=show_layer_activations, show_trainable=show_trainable, splines=splines, **kwargs)
    to_file = os.fspath(to_file)
    extension = os.path.splitext(to_file)[1][1:] or "png"
    dot.write(to_file, format=extension)
