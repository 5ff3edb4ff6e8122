"""tf.train: checkpoints of graphs of objects, deferred values, damage, managers."""
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import gradus as tf


class Net(tf.Module):
    def __init__(self, size=2):
        super().__init__()
        self.w = tf.Variable(tf.zeros([size]))
        self.parts = [tf.Variable(3), {"k": tf.Variable([[1.5]])}]
        self.again = self.w  # one object under two names
        self.note, self.function = "text", len


def test_save_and_restore(tmp_path):
    net, step = Net(), tf.Variable(0, dtype=tf.int64)
    net.w.assign([1.0, 2.0])
    checkpoint = tf.train.Checkpoint(net=net, step=step)
    path = checkpoint.save(str(tmp_path / "ckpt"))
    assert path == str(tmp_path / "ckpt-1") and int(checkpoint.save_counter) == 1
    assert os.path.exists(path + ".index") and tf.train.latest_checkpoint(str(tmp_path)) == path
    net.w.assign([9.0, 9.0])
    net.parts[1]["k"].assign([[7.0]])
    step.assign(5)
    checkpoint.restore(path).assert_consumed().expect_partial()
    assert net.w.numpy().tolist() == [1, 2] and net.parts[1]["k"].numpy().tolist() == [[1.5]] and int(step) == 0
    assert checkpoint.save(str(tmp_path / "ckpt")) == str(tmp_path / "ckpt-2")


def test_names_and_reader(tmp_path):
    path = tf.train.Checkpoint(net=Net()).write(str(tmp_path / "c"))
    end = "/.ATTRIBUTES/VARIABLE_VALUE"
    assert tf.train.list_variables(path) == [("net/again" + end, [2]), ("net/parts/0" + end, []),
                                             ("net/parts/1/k" + end, [1, 1])]
    reader = tf.train.load_checkpoint(path)
    assert reader.has_tensor("net/parts/0" + end) and not reader.has_tensor("x")
    assert reader.get_tensor("net/parts/0" + end) == 3
    assert tf.train.load_variable(path, "net/parts/1/k" + end).tolist() == [[1.5]]
    with pytest.raises(tf.errors.NotFoundError):
        reader.get_tensor("x")


def test_values_wait_for_their_variables(tmp_path):
    net = Net()
    net.w.assign([4.0, 5.0])
    path = tf.train.Checkpoint(net=net, step=tf.Variable(6)).save(str(tmp_path / "c"))

    late = tf.Module()
    status = tf.train.Checkpoint(net=late).restore(path)
    with pytest.raises(AssertionError, match="Unresolved"):
        status.assert_consumed()
    late.w = tf.Variable([0.0, 0.0])
    assert late.w.numpy().tolist() == [4, 5]
    late.parts = [tf.Variable(0), {"k": tf.Variable([[0.0]])}]
    assert int(late.parts[0]) == 3
    with pytest.raises(AssertionError, match="step"):
        status.assert_consumed()
    status.assert_existing_objects_matched()
    status._checkpoint.step = tf.Variable(0)
    assert int(status._checkpoint.step) == 6
    status.assert_consumed()
    assert "__setattr__" not in vars(tf.Module)  # nothing is looked at when nothing waits


def test_without_the_checkpoint_object_values_still_wait(tmp_path):
    path = tf.train.Checkpoint(net=Net()).write(str(tmp_path / "c"))
    late = tf.Module()
    tf.train.Checkpoint(net=late).read(path)
    late.parts = [tf.Variable(0)]
    assert int(late.parts[0]) == 3
    del late
    import gc
    gc.collect()
    tf.Module().x = 1
    assert "__setattr__" not in vars(tf.Module)


def test_partial(tmp_path):
    path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0)).write(str(tmp_path / "c"))
    b, c = tf.Variable(0.0), tf.Variable(0.0)
    status = tf.train.Checkpoint(b=b, c=c).read(path).expect_partial()
    assert float(b) == 2
    with pytest.raises(AssertionError):
        status.assert_consumed()
    with pytest.raises(AssertionError, match="not assigned"):
        status.assert_existing_objects_matched()
    with pytest.raises(AssertionError):
        tf.train.Checkpoint(z=tf.Module()).read(path).assert_nontrivial_match()
    assert tf.train.Checkpoint(c=c).restore(None).expect_partial() is not None
    with pytest.raises(AssertionError):
        tf.train.Checkpoint(c=c).restore(None).assert_consumed()


def test_root(tmp_path):
    net = Net()
    path = tf.train.Checkpoint(net).write(str(tmp_path / "c"))
    other = Net()
    other.w.assign([3.0, 3.0])
    tf.train.Checkpoint(root=other).read(path).assert_consumed()
    assert other.w.numpy().tolist() == [0, 0]


def test_what_cannot_be_saved():
    with pytest.raises(ValueError, match="trackable"):
        tf.train.Checkpoint(x=3)


def test_dtypes(tmp_path):
    values = {d: tf.Variable(tf.cast([0, 1, 1], d)) for d in
              ("bool", "int8", "uint8", "int16", "int64", "float16", "bfloat16", "float32", "float64")}
    checkpoint = tf.train.Checkpoint(v=values)
    path = checkpoint.write(str(tmp_path / "c"))
    for v in values.values():
        v.assign(tf.cast([0, 0, 0], v.dtype))
    checkpoint.read(path).assert_consumed()
    for v in values.values():
        assert tf.cast(v, tf.float32).numpy().tolist() == [0, 1, 1]


def test_a_refused_file_changes_nothing(tmp_path):
    net = Net()
    checkpoint = tf.train.Checkpoint(net=net)
    path = checkpoint.write(str(tmp_path / "c"))
    other = Net(3)
    other.w.assign([7.0, 7.0, 7.0])
    other.parts[0].assign(8)
    with pytest.raises(ValueError, match="shape"):
        tf.train.Checkpoint(net=other).read(path)
    assert other.w.numpy().tolist() == [7, 7, 7] and int(other.parts[0]) == 8

    net.w.assign([5.0, 5.0])
    good = (tmp_path / "c.index").read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(200):
        bad = bytearray(good)
        bad[rng.integers(len(bad))] ^= 1 << rng.integers(8)
        (tmp_path / "bad.index").write_bytes(bad)
        with pytest.raises(tf.errors.DataLossError):
            checkpoint.read(str(tmp_path / "bad"))
    for size in (0, 5, 100, len(good) - 1):
        (tmp_path / "bad.index").write_bytes(good[:size])
        with pytest.raises(tf.errors.DataLossError):
            checkpoint.read(str(tmp_path / "bad"))
    assert net.w.numpy().tolist() == [5, 5]
    with pytest.raises(tf.errors.NotFoundError):
        checkpoint.restore(str(tmp_path / "none"))


def test_manager(tmp_path):
    step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(step=step)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    assert manager.latest_checkpoint is None and manager.restore_or_initialize() is None
    paths = []
    for _ in range(4):
        step.assign_add(1)
        paths.append(manager.save())
    assert manager.checkpoints == paths[2:] and manager.latest_checkpoint == paths[3]
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "ckpt-3.index", "ckpt-4.index"]

    again = tf.train.CheckpointManager(tf.train.Checkpoint(step=step), str(tmp_path), max_to_keep=2)
    step.assign(0)
    assert again.restore_or_initialize() == paths[3] and int(step) == 4
    assert again.save(checkpoint_number=9).endswith("ckpt-9")
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert state.all_model_checkpoint_paths == [paths[3], str(tmp_path / "ckpt-9")]
    with pytest.raises(ValueError):
        tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=0)


def test_manager_interval(tmp_path):
    step = tf.Variable(0, dtype=tf.int64)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(step=step), str(tmp_path), None, step_counter=step,
                                         checkpoint_interval=5)
    assert manager.save() and manager.save() is None
    step.assign(5)
    assert manager.save() and len(manager.checkpoints) == 2


def test_generator_state(tmp_path):
    generator = tf.random.Generator.from_seed(3)
    checkpoint = tf.train.Checkpoint(g=generator)
    path = checkpoint.write(str(tmp_path / "c"))
    first = generator.normal([3]).numpy()
    checkpoint.read(path).assert_consumed()
    assert np.array_equal(generator.normal([3]).numpy(), first)


WRITER = """
import sys
import gradus as tf
v = tf.Variable(tf.zeros([200000]))
checkpoint = tf.train.Checkpoint(v=v)
checkpoint.write(sys.argv[1])
print("ready", flush=True)
while True:
    v.assign_add(tf.ones([200000]))
    checkpoint.write(sys.argv[1])
"""


def test_kill_while_saving_leaves_a_whole_file(tmp_path):
    path = str(tmp_path / "c")
    for i in range(4):
        process = subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE,
                                   env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
        assert process.stdout.readline().strip() == b"ready"
        time.sleep(0.01 + 0.013 * i)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        v = tf.Variable(tf.zeros([200000]))
        tf.train.Checkpoint(v=v).read(path).assert_consumed()
        assert len(np.unique(v.numpy())) == 1


def test_a_full_disk_keeps_the_old_file(tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    import gradus._files as files
    v = tf.Variable([1.0])
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.write(str(tmp_path / "c"))
    v.assign([2.0])
    real = open

    def full(name, mode="r", *args, **kwargs):
        return real("/dev/full", "wb") if mode == "xb" else real(name, mode, *args, **kwargs)

    files.open = full
    try:
        with pytest.raises(OSError):
            checkpoint.write(path)
    finally:
        del files.open
    checkpoint.read(path)
    assert v.numpy().tolist() == [1.0] and os.listdir(tmp_path) == ["c.index"]
