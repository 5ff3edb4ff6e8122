"""The graph of objects that a checkpoint saves: who holds whom under which name, down to variables.

An object of the program is compared with the saved graph edge by edge, so that values find their variables by the way
they are reached and not by a global name, and an object that is held twice is saved once.
"""
import sys

from .. import _core
from .._generator import Generator
from .._module import Module

SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"


def _keras():
    """The classes of Keras, if the program uses it."""
    return sys.modules.get("gradus.keras.saving._walk") or _loaded_keras()


def _loaded_keras():
    if "gradus.keras._layer" not in sys.modules and "gradus.keras.optimizers" not in sys.modules:
        return None
    from ..keras.saving import _walk
    return _walk


def _is_metric(value):
    metrics = sys.modules.get("gradus.keras.metrics")
    return metrics is not None and isinstance(value, metrics.Metric)


def is_trackable(value):
    """Whether a checkpoint can hold it."""
    if isinstance(value, (_core.Variable, Module)) or hasattr(value, "_trackable_children"):
        return True
    if isinstance(value, (list, tuple, dict)):
        return True
    walk = _keras()
    if _is_metric(value) or walk is not None and walk.is_saveable(value):
        return True
    return isinstance(value, Generator)


def _holds(value, depth=0):
    """Whether there may be variables in it, now or later; empty containers may get some."""
    if isinstance(value, (list, tuple)):
        return depth < 8 and (not value or any(_holds(v, depth + 1) for v in value))
    if isinstance(value, dict):
        return depth < 8 and all(isinstance(k, (str, int)) for k in value) and (
            not value or any(_holds(v, depth + 1) for v in value.values()))
    return is_trackable(value)


def children(value):
    """{name: object} of what an object holds."""
    if isinstance(value, _core.Variable):
        return {}
    if hasattr(value, "_trackable_children"):
        return dict(value._trackable_children())
    if isinstance(value, dict):
        found = {str(k): v for k, v in value.items()}
    elif isinstance(value, (list, tuple)):
        found = {str(i): v for i, v in enumerate(value)}
    elif isinstance(value, Module):
        found = {k: v for k, v in vars(value).items() if k not in value._TF_MODULE_IGNORED_PROPERTIES and k != "_name"}
    elif _is_metric(value):
        return {f"variable-{i}": v for i, v in enumerate(value.variables)}
    elif isinstance(value, Generator):
        return {"state": value.state}
    else:
        return _keras_children(value)
    return {k: v for k, v in found.items() if _holds(v)}


def _keras_children(value):
    walk = _keras()
    if walk is None or not walk.is_saveable(value):
        return {}
    found = {name: child for name, child in walk.children(value) if _holds(child)}
    if hasattr(value, "_non_trainable_variables") and hasattr(value, "_layers"):
        for kind, variables in (("trainable", value._trainable_variables), ("fixed", value._non_trainable_variables)):
            found.update({f"{kind}-{i}": v for i, v in enumerate(variables)})
    else:
        found.update({f"variable-{i}": v for i, v in enumerate(value.variables)})
    return found


def described(root):
    """(nodes, {key: variable}): a node is {"children": {name: number}, "value": key of its variable}."""
    nodes, numbers, variables = [{"children": {}}], {id(root): 0}, {}
    kept = [root]  # ids stay valid as long as the objects live
    queue = [(root, "", 0)]
    while queue:
        value, path, number = queue.pop(0)
        if isinstance(value, _core.Variable):
            key = (path or "root") + SUFFIX
            nodes[number]["value"] = key
            variables[key] = value
            continue
        for name, child in sorted(children(value).items()):
            if id(child) not in numbers:
                numbers[id(child)] = len(nodes)
                nodes.append({"children": {}})
                kept.append(child)
                escaped = name.replace(".", "..").replace("/", ".S")
                queue.append((child, f"{path}/{escaped}" if path else escaped, numbers[id(child)]))
            nodes[number]["children"][name] = numbers[id(child)]
    return nodes, variables


def matched(root, nodes):
    """(pairs of a variable and its key, numbers of saved nodes without an object, objects without a saved node)."""
    pairs, met, unsaved = {}, set(), []
    stack, seen = [(root, 0)], set()
    while stack:
        value, number = stack.pop()
        if (id(value), number) in seen:
            continue
        seen.add((id(value), number))
        met.add(number)
        node = nodes[number]
        if isinstance(value, _core.Variable):
            if "value" in node:
                pairs[id(value)] = (value, node["value"])
            continue
        own = children(value)
        for name, child_number in node["children"].items():
            if name in own:
                stack.append((own[name], child_number))
        unsaved += [(name, child) for name, child in own.items() if name not in node["children"]]
    missing = {n for n in range(len(nodes)) if n not in met and "value" in nodes[n]}
    return list(pairs.values()), missing, unsaved
