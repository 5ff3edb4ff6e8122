"""Files that ask for more than they are: refused by the sizes that they declare, before memory is taken; those that lie about
their sizes are found out while they are unpacked. Each is read in a process of its own, which says how much memory that took.
"""
import copy
import json
import pathlib
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import gradus as tf
from gradus import keras
from gradus._safetensors import _without_repeats

_READ = """
import resource, sys, gradus as tf
from gradus import keras
from gradus._safetensors import load_safetensors
load_safetensors.__doc__, keras.saving.load_model, tf.ones((2, 2)) @ tf.ones((2, 2))
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
for path in sys.argv[1:]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        if path.endswith(".keras"):
            keras.saving.load_model(path)
        else:
            model.load_weights(path)
        said = "nothing"
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    print(grown, said.replace(chr(10), " "))
"""


def _model():
    return keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])


def _parts(tmp_path):
    path = tmp_path / "whole.keras"
    _model().save(path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _archive(path, parts, method=zipfile.ZIP_STORED, more=()):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in [*parts.items(), *more]:
            archive.writestr(name, content)
    return path


def _patched(path, name, claimed):
    """The archive with another size claimed for an entry, in both places."""
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        real = archive.getinfo(name).file_size
    for signature, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = 0
        while (start := data.find(signature, start)) >= 0:
            if struct.unpack_from("<I", data, start + at)[0] == real:
                struct.pack_into("<I", data, start + at, claimed)
            start += 4
    path.write_bytes(data)
    return path


def _array(shape, data, descr="<f4"):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def _npz(path, shape):
    return _archive(path, {"layers/dense/vars/0.npy": _array(shape, b"\0" * 64)})


def _safetensors(path, text, data=b"\0" * 8, length=None):
    text = text.encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
    return path


def _entry(begin, end, dtype="F32", shape=(1,)):
    return json.dumps({"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]})


def _overlapping(path, parts):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
        for i in range(40):
            again = copy.copy(archive.getinfo("model.weights.h5"))
            again.filename = f"again{i}"
            archive.filelist.append(again)
    return path


def _hostile(folder, parts):
    """(file, words of the error)."""
    zeros = b"\0" * (80 << 20)
    bomb = {**parts, "model.weights.h5": zeros}
    small = {**parts, "model.weights.h5": b"\0" * (1 << 20)}
    weights = "model.weights.h5"
    yield _archive(folder / "bomb.keras", bomb, zipfile.ZIP_DEFLATED), "claims to unpack from"
    pieces = {f"layers/dense{i}/vars/0.npy": _array("(15728640,)", b"\0" * (60 << 20)) for i in range(4)}
    yield _archive(folder / "many.keras", {**parts, **pieces}, zipfile.ZIP_DEFLATED), "claim to unpack from"
    yield _archive(folder / "many.npz", pieces, zipfile.ZIP_DEFLATED), "claims to unpack from"
    one = {"layers/dense/vars/0.npy": _array("(41943040,)", b"\0" * (160 << 20))}
    yield _archive(folder / "one.npz", one, zipfile.ZIP_DEFLATED), "claims to unpack from"
    yield _patched(_archive(folder / "lies_less.keras", small, zipfile.ZIP_DEFLATED), weights, 1000), "damaged"
    yield _patched(_archive(folder / "lies_more.keras", small, zipfile.ZIP_DEFLATED), weights, 60 << 20), "damaged"
    yield _patched(_archive(folder / "stored.keras", parts), weights, 1 << 31), "impossible size"
    yield _archive(folder / "bzip.keras", small, zipfile.ZIP_BZIP2), "packed by method 12"
    yield _archive(folder / "outside.keras", parts, more=[("assets/../../evil", b"x")]), "points outside"
    yield _archive(folder / "absolute.keras", parts, more=[("/etc/evil", b"x")]), "points outside"
    with pytest.warns(UserWarning, match="Duplicate name"):
        yield _archive(folder / "twice.keras", parts, more=[("config.json", b"{}")]), "two entries 'config.json'"
    yield _overlapping(folder / "overlap.keras", small), "entries overlap"
    for i, shape in enumerate(["(1099511627776,)", "(-1,)", "(4611686018427387904, 8)", "(4294967296, 4294967296, 0, 3)", "(2, 2, 5)"]):
        yield _npz(folder / f"a{i}.npz", shape), "ends too early" if i in (0, 2, 4) else "natural number" if i == 1 else "does not fit"
    data = pathlib.Path(__file__).parent / "data"
    yield data / "huge_packed.weights.h5", "larger than the file can hold"
    yield data / "huge_empty.weights.h5", "is not in the file"
    yield data / "huge_chunk.weights.h5", "larger than the file can hold"
    yield _safetensors(folder / "a.safetensors", '{"layers/dense/vars/0": %s, "layers/dense/vars/0": %s}' % (_entry(0, 4), _entry(4, 8))), "twice"
    for name, first, second, words in (
            ("overlap", _entry(0, 8, shape=(2,)), _entry(4, 8), "overlap"), ("gap", _entry(0, 2, "F16"), _entry(4, 8), "belong to none"),
            ("outside", _entry(0, 4), _entry(4, 1 << 40, shape=(1 << 38,)), "outside"), ("size", _entry(0, 4, "F64"), _entry(4, 8), "another size"),
            ("behind", _entry(0, 2, "F16"), _entry(2, 4, "F16"), "behind its last"), ("order", _entry(4, 0), _entry(4, 8), "outside"),
            ("minus", _entry(-4, 0), _entry(0, 8, shape=(2,)), "cannot be read"), ("kind", _entry(0, 4, "F8"), _entry(4, 8), "cannot be read"),
            ("shape", _entry(0, 4, shape=(1.0,)), _entry(4, 8), "cannot be read")):
        yield _safetensors(folder / f"{name}.safetensors", f'{{"a/vars/0": {first}, "b/vars/0": {second}}}'), words
    yield _safetensors(folder / "long.safetensors", "{}", length=1 << 60), "does not fit"


def test_hostile_files_are_refused_and_take_no_memory(tmp_path):
    cases = list(_hostile(tmp_path, _parts(tmp_path)))
    done = subprocess.run([sys.executable, "-c", _READ, *(str(path) for path, _ in cases)], capture_output=True, text=True,
                          check=True, timeout=300)
    lines = done.stdout.splitlines()
    assert len(lines) == len(cases)
    for (path, words), line in zip(cases, lines):
        grown, said = line.split(" ", 1)
        assert words in said and "nothing" != said, f"{path.name}: {said}"
        assert said.startswith(("DataLossError", "ValueError", "ResourceExhaustedError")), f"{path.name}: {said}"
        assert int(grown) < 24, f"{path.name}: {grown} MB"


def test_a_repeated_name_among_many_is_found_in_one_look():
    class Name(str):
        compared = 0

        def __eq__(self, other):
            Name.compared += 1
            return str(self) == str(other)
        __hash__ = str.__hash__
    pairs = [(Name(i), None) for i in range(3000)]
    assert len(_without_repeats(pairs)) == 3000
    with pytest.raises(ValueError, match="'2999' stands there twice"):
        _without_repeats([*pairs, (Name(2999), None)])
    assert Name.compared < 3000


def test_whole_files_are_read(tmp_path):
    """What the checks above let through: packed weights, and arrays of all sizes."""
    model = _model()
    path = _archive(tmp_path / "packed.keras", _parts(tmp_path), zipfile.ZIP_DEFLATED)
    assert np.isfinite(keras.saving.load_model(path)(tf.ones((1, 2)))).all()
    for name in ("w.npz", "w.safetensors", "w.weights.h5"):
        model.save_weights(tmp_path / name)
        other = _model()
        other.load_weights(tmp_path / name)
        for a, b in zip(model.get_weights(), other.get_weights()):
            assert (a == b).all()


def test_archives_of_get_file_stay_in_their_folder(tmp_path):
    bad = _archive(tmp_path / "bad.zip", {"ok.txt": b"1", "../evil.txt": b"2"})
    with pytest.raises(Exception, match="points outside"):
        keras.utils.get_file("bad.zip", origin=str(bad), extract=True, cache_dir=str(tmp_path / "cache"))
    assert not list(pathlib.Path(tmp_path).rglob("evil.txt"))
