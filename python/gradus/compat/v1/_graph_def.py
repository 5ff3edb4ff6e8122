"""Graphs as data: names, kinds and operands, in the shape of TensorFlow's GraphDef. They can be looked at, not run."""


class NodeDef:
    """One operation."""

    def __init__(self, name, op, inputs):
        self.name, self.op, self.input, self.device, self.attr = name, op, inputs, "", {}

    def __repr__(self):
        operands = "".join(f'input: "{i}"\n' for i in self.input)
        return f'name: "{self.name}"\nop: "{self.op}"\n{operands}'


class GraphDef:
    """All operations of a graph, in order."""

    def __init__(self, node=()):
        self.node = list(node)

    def __repr__(self):
        return "".join("node {\n" + "".join(f"  {line}\n" for line in str(n).splitlines()) + "}\n" for n in self.node)


def graph_def(graph):
    """What there is in a graph now."""
    from ._graph import tensor_name

    def operands(operation):
        names = [tensor_name(t) for t in operation.inputs]
        names = [n[:-2] if n.endswith(":0") else n for n in names]
        return names + ["^" + c.name for c in operation.control_inputs if c.name not in names]
    return GraphDef(NodeDef(o.name, o.type, operands(o)) for o in graph.get_operations())
