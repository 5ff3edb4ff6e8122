#!/usr/bin/env python3
"""Checks that includes only go down the layers (ARCHITECTURE.md): exits with 1 and names each line.

A folder of src/ that BELOW names may include itself, what is listed for it and whatever lies below
those; every other folder (nn, data, io, ...) sees the public headers and itself. A public header
counts as part of the folders that implement it: gradus/tape.h of the one that has a tape.cpp.
"""
import pathlib
import re
import sys

BELOW = {
    "base": [],
    "expr": ["base"],
    "kernels": ["base"],
    "tensor": ["base"],
    "graph": ["tensor", "expr"],
    "ops": ["graph", "kernels", "expr"],
    "autodiff": ["ops"],
    "compile": ["autodiff"],
    "control": ["compile"],
    "function": ["control"],
    "session": ["control"],
}
VOCABULARY = {"error.h", "dtype.h"}  # public headers that every layer may use

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def visible(layer):
    """The folders whose headers `layer` may include, itself among them."""
    return {layer}.union(*(visible(below) for below in BELOW.get(layer, [])))


def includes(path):
    text = path.read_text()
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, match.group(1)


def makers(folders):
    """public header name -> the folders of src/ that implement it."""
    return {header.name: {f for f in folders if (ROOT / "src" / f / (header.stem + ".cpp")).exists()}
            for header in (ROOT / "include/gradus").glob("*.h")}


def objection(layer, target, folders, made_by):
    """Why a file of `layer` (None: a public header) must not include `target`; "" when it may."""
    head, _, name = target.partition("/")
    if head in folders:
        if layer is None:
            return f"a public header must not include the inside of the library ({target})"
        if head not in visible(layer):
            return f"{layer} must not include {target}"
    elif head == "gradus" and layer in BELOW and name not in VOCABULARY:
        above = made_by.get(name, set())
        if above and not above & visible(layer):
            return f"{layer} must not include {target}, which is made by {', '.join(sorted(above))}"
    return ""


def main():
    folders = sorted(p.name for p in (ROOT / "src").iterdir() if p.is_dir())
    made_by = makers(folders)
    sources = [(p, f) for f in folders for p in sorted((ROOT / "src" / f).rglob("*.[hc]*"))]
    sources += [(p, None) for p in sorted((ROOT / "include").rglob("*.h"))]
    wrong = [f"{path.relative_to(ROOT)}:{line}: {why}" for path, layer in sources
             for line, target in includes(path) if (why := objection(layer, target, folders, made_by))]
    print("\n".join(wrong) or f"layers: ok ({len(sources)} files)")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
