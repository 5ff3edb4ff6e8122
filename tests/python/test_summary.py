"""tf.summary: event files, byte by byte, and by TensorBoard's or TensorFlow's own reader where one is installed."""
import struct
import threading
import zlib

import numpy as np
import pytest

import gradus as tf
from gradus._records import crc32c, framed, read_records


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """{number: [values]} of a message."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        else:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        found.setdefault(key >> 3, []).append(value)
    return found


def events(folder):
    paths = sorted(folder.glob("events.out.tfevents.*"))
    made = []
    for path in paths:
        with open(path, "rb") as file:
            made += [fields(r) for r in read_records(file, str(path))]
    return made


def values(event):
    """(tag, plugin, tensor fields) of the values of an event."""
    made = []
    for raw in fields(event[5][0])[1]:
        value = fields(raw)
        plugin = fields(fields(value[9][0])[1][0])[1][0].decode()
        made.append((value[1][0].decode(), plugin, fields(value[8][0])))
    return made


def test_checksum_known_values():
    assert crc32c(b"123456789") == 0xE3069283 and crc32c(b"") == 0 and crc32c(bytes(32)) == 0x8A9136AA


def test_scalars(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        for i in range(3):
            assert bool(tf.summary.scalar("loss", tf.constant(0.5 * i), step=i))
        tf.summary.scalar("x/y", 7, step=2 ** 40, description="what it is")
    found = events(tmp_path)
    assert found[0][3] == [b"brain.Event:2"] and 1e9 < found[0][1][0] < 1e11
    tag, plugin, tensor = values(found[2])[0]
    assert (tag, plugin, found[2][2]) == ("loss", "scalars", [1]) and tensor[1] == [1]
    assert np.frombuffer(tensor[4][0], np.float32).tolist() == [0.5]
    assert found[4][2] == [2 ** 40] and b"what it is" in found[4][5][0]


def test_steps_and_conditions(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    assert not bool(tf.summary.scalar("a", 1.0, step=0))  # no writer
    with writer.as_default():
        with pytest.raises(ValueError, match="No step"):
            tf.summary.scalar("a", 1.0)
        step = tf.Variable(3, dtype=tf.int64)
        tf.summary.experimental.set_step(step)
        try:
            tf.summary.scalar("a", 1.0)
            step.assign_add(4)
            with tf.summary.record_if(lambda: int(step) % 2 == 0):
                assert not bool(tf.summary.scalar("a", 1.0)) and not bool(tf.summary.should_record_summaries())
            with tf.summary.record_if(True):
                tf.summary.scalar("a", 1.0)
        finally:
            tf.summary.experimental.set_step(None)
    assert [e.get(2) for e in events(tmp_path)[1:]] == [[3], [7]]
    with writer.as_default(step=9):
        tf.summary.scalar("a", 1.0)
    writer.close()
    assert events(tmp_path)[-1][2] == [9]
    with pytest.raises(RuntimeError, match="closed"):
        with writer.as_default():
            pass
    with pytest.raises(ValueError, match="one number"):
        with tf.summary.create_file_writer(str(tmp_path)).as_default():
            tf.summary.scalar("a", [1.0, 2.0], step=0)


def test_in_compiled_functions(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    step = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def train(x):
        with writer.as_default():
            tf.summary.scalar("twice", x * 2, step=step)
        step.assign_add(1)

    for i in range(3):
        train(tf.constant(float(i)))
    writer.close()
    found = [(e.get(2, [0])[0], np.frombuffer(values(e)[0][2][4][0], np.float32)[0]) for e in events(tmp_path)[1:]]
    assert found == [(0, 0), (1, 2), (2, 4)]


def test_text_histogram_image(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.text("t", "hällo", step=0)
        tf.summary.histogram("h", np.arange(100.0), step=0, buckets=10)
        tf.summary.histogram("same", [2.0, 2.0], step=0, buckets=3)
        tf.summary.image("i", np.linspace(0, 1, 2 * 5 * 7 * 3).reshape(2, 5, 7, 3), step=0)
    text, histogram, same, image = (values(e)[0] for e in events(tmp_path)[1:])
    assert text[1] == "text" and text[2][8] == ["hällo".encode()]
    rows = np.frombuffer(histogram[2][4][0]).reshape(10, 3)
    assert rows[:, 2].tolist() == [10.0] * 10 and rows[0, 0] == 0 and rows[-1, 1] == 99
    assert np.frombuffer(same[2][4][0]).reshape(3, 3)[:, 2].tolist() == [0, 0, 2]
    width, height, first, second = image[2][8]
    assert (width, height) == (b"7", b"5") and first.startswith(b"\x89PNG") and second != first
    pixels = zlib.decompress(first[first.index(b"IDAT") + 4:first.index(b"IEND") - 8])
    assert len(pixels) == 5 * (1 + 7 * 3) and pixels[1] == 0


def test_noop_and_threads(tmp_path):
    with tf.summary.create_noop_writer().as_default():
        assert not bool(tf.summary.scalar("a", 1.0, step=0))
    writer = tf.summary.create_file_writer(str(tmp_path))

    def work(n):
        with writer.as_default():
            for i in range(50):
                tf.summary.scalar(f"t{n}", float(i), step=i)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    writer.close()
    assert len(events(tmp_path)) == 201


def test_records(tmp_path):
    path = tmp_path / "r.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in (b"one", b"", b"x" * 1000):
            writer.write(record)
    assert [r.numpy() for r in tf.data.TFRecordDataset(str(path))] == [b"one", b"", b"x" * 1000]
    good = path.read_bytes()
    for at in (0, 9, 13, 20, 40, len(good) - 1):
        bad = bytearray(good)
        bad[at] ^= 1
        path.write_bytes(bad)
        with pytest.raises(tf.errors.DataLossError):
            list(tf.data.TFRecordDataset(str(path)))
    path.write_bytes(good[:-3])
    with pytest.raises(tf.errors.DataLossError, match="cut off"):
        list(tf.data.TFRecordDataset(str(path)))
    assert framed(b"") == good[19:35]


def test_examples(tmp_path):
    train, path = tf.train, str(tmp_path / "e.tfrecord")

    def example(i):
        return train.Example(features=train.Features(feature={
            "text": train.Feature(bytes_list=train.BytesList(value=[b"a%d" % i, b""])),
            "x": train.Feature(float_list=train.FloatList(value=np.array([1.5 * i, -2.0]))),
            "n": train.Feature(int64_list=train.Int64List(value=[-1, 2 ** 40])),
            "many": train.Feature(int64_list=train.Int64List(value=range(i)))}))

    with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions("GZIP")) as writer:
        for i in range(3):
            writer.write(example(i).SerializeToString())
    spec = {"text": tf.io.FixedLenFeature([2], tf.string), "x": tf.io.FixedLenFeature([2], tf.float32),
            "n": tf.io.FixedLenFeature([2, 1], tf.int64), "none": tf.io.FixedLenFeature([], tf.float32, 7.0),
            "many": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}
    records = tf.data.TFRecordDataset(path, "GZIP")
    parsed = [tf.io.parse_single_example(r, spec) for r in records]
    assert [p["x"].numpy().tolist() for p in parsed] == [[0, -2], [1.5, -2], [3, -2]]
    assert parsed[2]["many"].numpy().tolist() == [0, 1] and parsed[1]["n"].numpy().tolist() == [[-1], [2 ** 40]]
    batch = next(iter(records.batch(3).map(lambda r: tf.io.parse_example(r, spec))))
    assert batch["many"].numpy().tolist() == [[0, 0], [0, 0], [0, 1]] and batch["none"].numpy().tolist() == [7, 7, 7]
    assert batch["text"].numpy().tolist() == [[b"a0", b""], [b"a1", b""], [b"a2", b""]]
    for bad in ({"x": tf.io.FixedLenFeature([3], tf.float32)}, {"x": tf.io.FixedLenFeature([2], tf.int64)},
                {"missing": tf.io.FixedLenFeature([], tf.int64)}):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.parse_single_example(example(1).SerializeToString(), bad)
    with pytest.raises(TypeError):
        train.BytesList(value=["text"])
    data = example(2).SerializeToString()
    assert train.Example.FromString(data).features.feature["x"].float_list.value == [3.0, -2.0]
    rng = np.random.default_rng(0)
    for _ in range(300):
        broken = bytearray(data[:rng.integers(1, len(data))])
        broken[rng.integers(len(broken))] = rng.integers(256)
        try:
            train.Example.FromString(bytes(broken))
        except tf.errors.DataLossError:
            pass


def test_by_tensorboard(tmp_path):
    loader = pytest.importorskip("tensorboard.backend.event_processing.event_file_loader")
    from tensorboard.util import tensor_util
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.scalar("loss", 0.25, step=4)
    path, = tmp_path.glob("events*")
    found = list(loader.EventFileLoader(str(path)).Load())
    value = found[-1].summary.value[0]
    assert found[-1].step == 4 and value.tag == "loss" and tensor_util.make_ndarray(value.tensor) == 0.25
