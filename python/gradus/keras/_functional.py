"""Functional models: a graph of operations, from inputs to outputs, that can be run.

`Function` orders the nodes between inputs and outputs once, into a plan: a list of operations with the numbers of the
values that they take and give. `Functional` is the model that runs a plan.
"""
import gradus as _tf

from .. import _core, nest
from . import _state
from ._input_spec import InputSpec
from ._layer import Layer
from ._operation import KerasTensor, Node, Operation, _plain_shape
from ._scopes import context as _context
from ._variable import standardize_dtype


class InputLayer(Layer):
    """Where a model begins."""

    def __init__(self, shape=None, batch_size=None, dtype=None, sparse=None, ragged=None, batch_shape=None,
                 input_tensor=None,
                 optional=False, name=None, **kwargs):
        super().__init__(name=name)
        shape = kwargs.pop("input_shape", shape)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments passed to InputLayer: {kwargs}")
        if shape is not None and batch_shape is not None:
            raise ValueError("You cannot pass both `shape` and `batch_shape` at the same time.")
        if shape is None and batch_shape is None:
            if input_tensor is None:
                raise ValueError("You must pass a `shape` argument.")
            batch_shape = input_tensor.shape
        if batch_shape is None:
            if isinstance(shape, int):
                raise ValueError(f"Cannot convert '{shape}' to a shape.")
            batch_shape = (batch_size, *shape)
        self.batch_shape = _plain_shape(batch_shape)
        self._dtype = standardize_dtype(dtype if dtype is not None else
                                        input_tensor.dtype if input_tensor is not None else None)
        self.sparse, self.ragged, self.optional = bool(sparse), bool(ragged), bool(optional)
        output = input_tensor if input_tensor is not None else KerasTensor(self.batch_shape, self._dtype, self.sparse,
                                                                           self.ragged, name=name)
        Node(self, (), {}, output)
        self.built = True

    dtype = property(lambda self: self._dtype)

    def call(self):
        raise NotImplementedError("An InputLayer is not called")

    def get_config(self):
        return {"batch_shape": self.batch_shape, "dtype": self.dtype, "sparse": self.sparse, "ragged": self.ragged,
                "name": self.name, "optional": self.optional}


def Input(shape=None, batch_size=None, dtype=None, sparse=None, ragged=None, batch_shape=None, name=None,  # noqa: N802
          tensor=None, optional=False):
    """A symbolic tensor from which a functional model starts; `shape` is without the batch."""
    layer = InputLayer(shape=shape, batch_size=batch_size, dtype=dtype, sparse=sparse, ragged=ragged,
                       batch_shape=batch_shape, name=name, input_tensor=tensor, optional=optional)
    return layer.output


def _ordered_nodes(inputs, outputs):
    """The nodes between inputs and outputs, and their operations, by their distance from the outputs."""
    input_ids = {id(x) for x in inputs}
    done, order, index_of = set(), [], {}
    for output in outputs:
        stack = [(output, False)]
        while stack:
            tensor, leave = stack.pop()
            operation, node_index, _ = tensor._keras_history
            node = operation._inbound_nodes[node_index]
            if leave:
                if node not in done:
                    done.add(node)
                    order.append(node)
                continue
            if node in done:
                continue
            index_of.setdefault(operation, len(index_of))
            stack.append((tensor, True))
            if not node.is_input and id(tensor) not in input_ids:
                stack.extend((x, False) for x in reversed(node.inputs))
    depth_of_node, depth_of = {}, {}
    for node in reversed(order):
        depth = max(depth_of_node.setdefault(node, 0), depth_of.get(node.operation, 0))
        depth_of[node.operation] = depth_of_node[node] = depth
        if all(id(y) in input_ids for y in node.outputs):
            continue
        for parent in node.parent_nodes:
            depth_of_node[parent] = max(depth + 1, depth_of_node.get(parent, 0))
    for x in inputs:
        operation, node_index, _ = x._keras_history
        if operation not in depth_of:
            depth_of[operation] = 0
            index_of.setdefault(operation, -1)
            node = operation._inbound_nodes[node_index]
            depth_of_node[node] = 0
            order.append(node)
    operations = sorted(depth_of, key=lambda op: (-depth_of[op], index_of[op]))
    nodes = sorted(order, key=lambda n: -depth_of_node[n])
    return nodes, operations


class Graph:
    """The plan of a functional model."""

    def __init__(self, inputs, outputs, name):
        self.inputs, self.outputs = nest.flatten(inputs), nest.flatten(outputs)
        self.inputs_struct, self.outputs_struct = inputs, outputs
        for what, tensors in (("inputs", self.inputs), ("outputs", self.outputs)):
            for x in tensors:
                if not isinstance(x, KerasTensor):
                    raise ValueError(f"All `{what}` values must be KerasTensors. Received: "
                                     f"{what}={inputs if what == 'inputs' else outputs} including invalid value {x} of "
                                     f"type {type(x)}")
        self.nodes, self.operations = _ordered_nodes(self.inputs, self.outputs)
        self._number, self._plan = {}, []
        for x in self.inputs:
            self._number[id(x)] = len(self._number)
        for node in self.nodes:
            if node.is_input or all(id(y) in self._number for y in node.outputs):
                continue
            for x in node.inputs:
                if id(x) not in self._number:
                    raise ValueError(f"Graph of model '{name}' is disconnected: cannot obtain value for tensor {x} at "
                                     f"layer \"{node.operation.name}\".")
            for y in node.outputs:
                if isinstance(y, KerasTensor):
                    self._number.setdefault(id(y), len(self._number))
            self._plan.append(self._step(node))
        for y in self.outputs:
            if id(y) not in self._number:
                raise ValueError("Output with path `` is not connected to `inputs`")
        self._results = [self._number[id(y)] for y in self.outputs]
        # A list of one output is given back as that output.
        self.results_struct = outputs[0] if isinstance(outputs, (list, tuple)) and len(outputs) == 1 else outputs
        self._single = not isinstance(self.results_struct, (list, tuple, dict))
        only = self.inputs[0]
        self._single_input = (_tf.as_dtype(only.dtype), len(only.shape)) if len(self.inputs) == 1 else None
        names = {}
        for operation in self.operations:
            names[operation.name] = names.get(operation.name, 0) + 1
        for own, count in names.items():
            if count > 1:
                raise ValueError(f'The name "{own}" is used {count} times in the model. All operation names should be '
                                 'unique.')

    def fits(self, tensor):
        """Whether the tensor can be the only input as it is."""
        kind = self._single_input
        return kind is not None and tensor.dtype is kind[0] and tensor.ndim == kind[1]

    def _step(self, node):
        number = self._number
        outputs = [number[id(y)] for y in node.outputs if isinstance(y, KerasTensor)]
        if len(node.args) == 1 and not node.kwargs and len(outputs) == 1:
            if isinstance(node.args[0], KerasTensor):
                return node.operation, number[id(node.args[0])], None, None, outputs[0]
        leaves = nest.flatten((node.args, node.kwargs))
        places = [(i, number[id(leaf)]) for i, leaf in enumerate(leaves) if isinstance(leaf, KerasTensor)]
        return node.operation, None, (node.args, node.kwargs, leaves), places, outputs

    def run(self, values, call=None):
        """The outputs for a flat list of inputs; call(operation, args, kwargs) replaces the call of each operation."""
        table = [None] * len(self._number)
        table[:len(values)] = values
        for operation, single, structure, places, outputs in self._plan:
            if single is not None and call is None:
                table[outputs] = operation(table[single])
                continue
            if single is not None:
                table[outputs] = call(operation, (table[single],), {})
                continue
            args, kwargs, leaves = structure
            leaves = list(leaves)
            for i, number in places:
                leaves[i] = table[number]
            args, kwargs = nest.pack_sequence_as((args, kwargs), leaves)
            if "training" in kwargs and _context.training is not None:
                kwargs["training"] = _context.training  # the call of the model decides, as in Keras
            result = operation(*args, **kwargs) if call is None else call(operation, args, kwargs)
            if type(result) is _core.Tensor and len(outputs) == 1:
                table[outputs[0]] = result
            else:
                for number, value in zip(outputs, (v for v in nest.flatten(result) if v is not None)):
                    table[number] = value
        if self._single:
            return table[self._results[0]]
        return nest.pack_sequence_as(self.results_struct, [table[i] for i in self._results])


class Function(Operation):
    """Operations between symbolic inputs and outputs, as one function."""

    def __init__(self, inputs, outputs, name=None):
        super().__init__(name=name)
        self._graph = Graph(inputs, outputs, self.name)
        self._inputs_struct, self._outputs_struct = inputs, outputs

    inputs = property(lambda self: self._graph.inputs)
    outputs = property(lambda self: self._graph.outputs)
    operations = property(lambda self: list(self._graph.operations))

    def call(self, inputs):
        return self._graph.run([_tf.convert_to_tensor(x) for x in nest.flatten(inputs)])

    def compute_output_spec(self, inputs):
        return nest.map_structure(lambda y: KerasTensor(y.shape, y.dtype), self._outputs_struct)


def input_specs(graph):
    """What a functional model expects."""
    def one(x, name):
        operation = x._keras_history[0]
        return InputSpec(shape=(None,) + x.shape[1:], allow_last_axis_squeeze=True, name=name or operation.name,
                         optional=getattr(operation, "optional", False))
    struct = graph.inputs_struct
    if isinstance(struct, dict):
        names = sorted(struct)
        if names != list(struct):
            return [one(struct[k], k) for k in names]
        return [one(struct[k], k) for k in names]
    return [one(x, None) for x in graph.inputs]


def standardized_inputs(graph, inputs, model_name):
    """The inputs as a flat list of tensors with the dtypes and ranks of the graph's."""
    struct = graph.inputs_struct
    if isinstance(inputs, dict):
        if isinstance(struct, dict):
            missing = [k for k in struct if k not in inputs]
            if missing:
                raise ValueError(f"Missing data for input \"{missing[0]}\". You passed a data dictionary with keys "
                                 f"{list(inputs)}. Expected the following keys: {list(struct)}")
            values = nest.flatten({k: inputs[k] for k in struct})
        else:
            names = [x._keras_history[0].name for x in graph.inputs]
            missing = [k for k in names if k not in inputs]
            if missing:
                raise ValueError(f"Missing data for input \"{missing[0]}\". You passed a data dictionary with keys "
                                 f"{list(inputs)}. Expected the following keys: {names}")
            values = [inputs[k] for k in names]
    else:
        values = nest.flatten(inputs)
    if len(values) != len(graph.inputs):
        raise ValueError(f"Function expects {len(graph.inputs)} input(s), but it received {len(values)} input tensors. "
                         f"Inputs received: {inputs}")
    return [_fitted(v, x) for v, x in zip(values, graph.inputs)]


def _fitted(value, wanted):
    if value is None or isinstance(value, KerasTensor):
        return value
    if not _tf.is_tensor(value):
        value = _tf.convert_to_tensor(value)
    if type(value) is not _core.Tensor and value.dtype != "string":
        return value
    mask = None
    if value.dtype.name != wanted.dtype:
        mask = _state.get_mask(value)
        value = _tf.cast(value, wanted.dtype)
    rank, wanted_rank = len(value.shape), len(wanted.shape)
    if rank != wanted_rank:
        if rank == wanted_rank + 1 and value.shape[-1] == 1:
            value = _tf.squeeze(value, -1)
        elif rank == wanted_rank - 1 and wanted.shape[-1] == 1:
            value = _tf.expand_dims(value, -1)
        else:
            raise ValueError(f"Invalid input shape for input {value}. Expected shape {wanted.shape}, but input has "
                             f"incompatible shape {tuple(value.shape)}")
    if mask is not None:
        _state.set_mask(value, mask)
    return value
