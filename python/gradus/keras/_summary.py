"""model.summary(): a table of layers, as Keras draws it."""
import shutil

from ._layer import Layer, _size

_DTYPE_BYTES = {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2, "int32": 4,
                "uint32": 4,
                "float32": 4, "int64": 8, "uint64": 8, "float64": 8, "complex64": 8, "complex128": 16}


def count_params(weights):
    """The number of elements."""
    return sum(_size(v.shape) for v in weights)


def _memory(weights):
    return sum(_size(v.shape) * _DTYPE_BYTES.get(str(getattr(v.dtype, "name", v.dtype)), 4) for v in weights)


def readable_memory_size(size):
    """Bytes with a unit."""
    units = ["B", "KB", "MB", "GB", "TB", "PB"]
    scale = 0
    size = float(size)
    while size >= 1024 and scale < len(units) - 1:
        size /= 1024
        scale += 1
    return f"{size:.2f} {units[scale]}"


def _shared(total, parts):
    """The total cut into nearly equal whole parts."""
    shares = []
    for left in range(parts, 0, -1):
        share = round(total / left)
        shares.append(share)
        total -= share
    return shares


def _wrapped(text, width):
    """Lines of at most `width`: words go to the next line, longer ones are cut with '…'."""
    indent = len(text) - len(text.lstrip(" "))
    lines, line = [], text[:indent]
    for word in text.split():
        candidate = word if not line.strip() and not line else line + ("" if line.endswith(" ") or not line
                                                                       else " ") + word
        if len(candidate) <= width:
            line = candidate
            continue
        if line.strip():
            lines.append(line)
            candidate = word
        if len(candidate) > width:
            candidate = candidate[:width - 1] + "…"
        line = candidate
    lines.append(line)
    return lines


def _row(cells, widths, aligns, left, middle, right, at_bottom=False):
    columns = [_wrapped(cell, width - 2) if cell else [""] for cell, width in zip(cells, widths)]
    height = max(map(len, columns))
    if at_bottom:
        columns = [[""] * (height - len(column)) + column for column in columns]
    lines = []
    for i in range(height):
        parts = []
        for column, width, align in zip(columns, widths, aligns):
            text = column[i] if i < len(column) else ""
            parts.append(" " + {"l": text.ljust, "r": text.rjust, "c": text.center}[align](width - 2) + " ")
        lines.append(left + middle.join(parts) + right)
    return lines


def table(header, rows, widths, aligns):
    """The lines of a table with a heavy head."""
    rule = lambda start, bar, cross, end: start + cross.join(bar * w for w in widths) + end  # noqa: E731
    lines = [rule("┏", "━", "┳", "┓"), *_row(header, widths, aligns, "┃", "┃", "┃", True), rule("┡", "━", "╇", "┩")]
    for i, row in enumerate(rows):
        if i:
            lines.append(rule("├", "─", "┼", "┤"))
        lines.extend(_row(row, widths, aligns, "│", "│", "│"))
    return lines + [rule("└", "─", "┴", "┘")]


def _is_sequential_like(model):
    from .models import Functional, Sequential
    if isinstance(model, Sequential):
        return True
    if not isinstance(model, Functional):
        return True
    belongs = set(model._graph.nodes)
    for operation in model._graph.operations:
        nodes = [n for n in operation._inbound_nodes if n in belongs]
        if len(nodes) > 1 or any(len(n.inputs) > 1 for n in nodes):
            return False
        if len([n for n in operation._outbound_nodes if n in belongs]) > 1:
            return False
    return True


def _shape_text(shape):
    return "(" + ", ".join(map(str, shape)) + ")"


def _output_shape(layer):
    """The shape of what the layer gave, as text."""
    nodes = layer._inbound_nodes
    if nodes:
        shapes = [tuple(y.shape) for node in nodes[:1] for y in node.outputs if hasattr(y, "shape")]
        return _shape_text(shapes[0]) if len(shapes) == 1 else "[" + ", ".join(map(_shape_text, shapes)) + "]"
    if isinstance(layer, Layer):
        graph_shape = getattr(type(layer), "output_shape", None)
        if graph_shape is not None:
            try:
                shape = layer.output_shape
            except AttributeError:
                shape = None
            if shape is not None:
                return str(shape) if isinstance(shape, list) else _shape_text(shape)
        shapes = layer._build_shapes_dict
        if layer.built and shapes and not getattr(type(layer).compute_output_shape, "_is_default", False):
            try:
                if len(shapes) == 1:
                    shape = layer.compute_output_shape(next(iter(shapes.values())))
                else:
                    shape = layer.compute_output_shape(**shapes)
            except Exception:  # noqa: BLE001
                return "?"
            if isinstance(shape, dict) or (isinstance(shape, (list, tuple)) and shape
                                           and isinstance(shape[0], (list, tuple))):
                flat = ", ".join(_shape_text(s) for s in (shape.values() if isinstance(shape, dict) else shape))
                return f"({flat})" if isinstance(shape, tuple) else f"[{flat}]"
            return _shape_text(shape)
    return "?"


def _connections(operation, belongs):
    if not hasattr(operation, "_inbound_nodes"):
        return "-"
    found = []
    for node in operation._inbound_nodes:
        if node in belongs:
            for x in node.inputs:
                other, node_index, tensor_index = x._keras_history
                found.append(f"{other.name}[{node_index}][{tensor_index}]")
    return ", ".join(found) or "-"


def _rows_of(model, connected, expand_nested, show_trainable, layer_range):
    from .models import Functional, Sequential
    belongs = set(model._graph.nodes) if isinstance(model, Functional) else set()
    operations = model.operations if isinstance(model, Functional) else model.layers
    if layer_range is not None:
        operations = _in_range(operations, layer_range)
    rows = []

    def add(operation, prefix, nodes):
        cells = [f"{prefix}{operation.name} ({type(operation).__name__})", _output_shape(operation)]
        if isinstance(operation, Layer):
            unbuilt = not operation.built and not operation.weights
            count = 0 if unbuilt else count_params(operation.weights)
            cells.append("0 (unbuilt)" if unbuilt else f"{count:,}")
        else:
            cells.append("0")
        if connected:
            cells.append(_connections(operation, nodes))
        if show_trainable:
            has = isinstance(operation, Layer) and operation.weights
            cells.append(("Y" if operation.trainable else "N") if has else "-")
        rows.append(cells)

    def walk(operation, depth, nodes):
        add(operation, "" if depth == 0 else " " * (3 * depth) + "└ ", nodes)
        if expand_nested and isinstance(operation, (Functional, Sequential)) or (
                expand_nested and isinstance(operation, Layer) and hasattr(type(operation), "fit")
            and operation._layers):
            inner = operation.operations if isinstance(operation, Functional) else operation.layers
            own = set(operation._graph.nodes) if isinstance(operation, Functional) else set()
            for part in inner:
                walk(part, depth + 1, own)

    for operation in operations:
        walk(operation, 0, belongs)
    return rows


def _in_range(operations, layer_range):
    import re
    if len(layer_range) != 2:
        raise ValueError(f"layer_range must be a list or tuple of length 2. Received: layer_range = {layer_range} of "
                         f"length {len(layer_range)}")
    if not isinstance(layer_range[0], str) or not isinstance(layer_range[1], str):
        raise ValueError(f"layer_range should contain string type only. Received: {layer_range}")
    first = [i for i, op in enumerate(operations) if re.match(layer_range[0], op.name)]
    last = [i for i, op in enumerate(operations) if re.match(layer_range[1], op.name)]
    if not first or not last:
        raise ValueError(f"Passed layer_range does not match any layer names in the model: "
                         f"{[op.name for op in operations]}.")
    ends = sorted((min(first), max(last)))
    return operations[ends[0]:ends[1] + 1]


def summary_lines(model, line_length=None, positions=None, expand_nested=False, show_trainable=False, layer_range=None):
    """The lines that summary() prints."""
    console = shutil.get_terminal_size((80, 24)).columns
    line_length = line_length or min(console - 4, 88)
    connected = not _is_sequential_like(model)
    if connected:
        default, header, aligns = [0.3, 0.56, 0.74, 1.0], ["Layer (type)", "Output Shape", "Param #",
                                                           "Connected to"], "llrl"
    else:
        default, header, aligns = [0.45, 0.80, 1.0], ["Layer (type)", "Output Shape", "Param #"], "llr"
    positions = list(positions or default)
    if show_trainable:
        positions = [p * 0.9 for p in positions] + [1.0]
        header, aligns = header + ["Trainable"], aligns + "c"
    if positions[-1] <= 1:
        positions = [int(line_length * p) for p in positions]
    widths = [b - a for a, b in zip([0] + positions[:-1], positions)]
    shares = _shared(len(widths) + 1, len(widths))
    widths = [max(w - s, 3) for w, s in zip(widths, shares)]
    lines = [f'Model: "{model.name}"']
    lines += [line[:console] for line in table(header, _rows_of(model, connected, expand_nested, show_trainable,
                                                                layer_range),
                                              widths, aligns)]
    weights = model.weights
    trainable, rest = model.trainable_weights, model.non_trainable_weights
    optimizer = getattr(model, "_optimizer", None) if getattr(model, "compiled", False) else None
    extra = list(optimizer.variables) if optimizer is not None and getattr(optimizer, "built", False) else []
    show = lambda what, ws: f" {what} params: {count_params(ws):,} ({readable_memory_size(_memory(ws))})"  # noqa: E731
    lines += [show("Total", weights + extra), show("Trainable", trainable), show("Non-trainable", rest)]
    if extra:
        lines.append(show("Optimizer", extra))
    return lines


def print_summary(model, line_length=None, positions=None, print_fn=None, expand_nested=False, show_trainable=False,
                  layer_range=None):
    """Prints the summary, or gives it to print_fn as one text."""
    text = "\n".join(summary_lines(model, line_length, positions, expand_nested, show_trainable, layer_range))
    if print_fn is None:
        print(text)
    else:
        print_fn(text + "\n")
