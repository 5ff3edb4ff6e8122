"""tf.data: as TensorFlow answers, and what it must do besides: threads, errors, memory, speed paths."""
import gc
import json
import pathlib
import threading
import time
import weakref

import numpy as np
import pytest

import data_cases
import gradus as tf

D = tf.data.Dataset
REFERENCE = {}
for _line in (pathlib.Path(__file__).parent / "data_reference.json").read_text().splitlines():
    REFERENCE.update(json.loads(_line))

# Lines that Gradus answers differently on purpose.
DIFFERENT = {
    "plain(D.range(5).reduce(np.int64(0), lambda s, x: s + x)), error(lambda: D.range(5).reduce(0, lambda s, x: s + "
    "x))":
        "functions of elements run eagerly, where mixed dtypes are an InvalidArgumentError",
}


@pytest.mark.parametrize("line", data_cases.LINES)
def test_as_tensorflow(line):
    assert line in REFERENCE, "run tools/make_data_reference.py"
    if line in DIFFERENT:
        pytest.skip(DIFFERENT[line])
    tf.random.set_seed(1)
    names = data_cases.namespace(tf, np)
    got = json.loads(json.dumps(names["plain"](eval(line, names))))  # noqa: S307
    assert got == REFERENCE[line]


def values(dataset):
    return [tf.nest.map_structure(lambda t: t.numpy().tolist(), x) for x in dataset]


def slow(dataset):
    """The same dataset without the shortcut for rows of tensors."""
    return dataset.map(lambda *x: x if len(x) > 1 else x[0])


@pytest.mark.parametrize("make", [
    lambda d: d.batch(3),
    lambda d: d.shuffle(5, seed=3).batch(4),
    lambda d: d.shuffle(100, seed=3).repeat(2).batch(4, drop_remainder=True),
    lambda d: d.repeat(3).shuffle(7, seed=1).batch(4),
    lambda d: d.take(9).skip(2).shard(2, 1).batch(2),
    lambda d: d.shard(3, 2).repeat().skip(5).take(11).batch(3),
    lambda d: d.repeat().shuffle(4, seed=9).take(23).batch(5),
    lambda d: d.cache().shuffle(6, seed=2).batch(5),
    lambda d: d.shuffle(6, seed=2).cache().batch(5),
    lambda d: d.take(0).batch(2),
    lambda d: d.skip(100).repeat().batch(2),
])
@pytest.mark.parametrize("rows", [0, 1, 7, 13])
def test_rows_are_taken_as_if_one_by_one(make, rows):
    x = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
    plain = D.from_tensor_slices((x, np.arange(rows)))
    quick, other = make(plain), make(slow(plain))
    for _ in range(2):
        assert values(quick) == values(other)


def test_a_batch_is_one_gather():
    x = np.random.default_rng(0).normal(size=(1000, 8)).astype(np.float32)
    calls = []
    import gradus.data._rows as rows
    before = rows._gather
    rows._gather = lambda column, block: calls.append(len(block)) or before(column, block)
    try:
        got = np.concatenate([b.numpy() for b in D.from_tensor_slices(x).shuffle(1000, seed=1).batch(100)])
    finally:
        rows._gather = before
    assert calls == [100] * 10
    assert not np.array_equal(got, x) and np.array_equal(got[np.lexsort(got.T)], x[np.lexsort(x.T)])


def test_prefetch_runs_in_another_thread_and_ahead():
    seen = []

    def note(x):
        seen.append(threading.current_thread())
        return x

    iterator = iter(D.range(10).map(note).prefetch(4))
    assert int(next(iterator)) == 0
    deadline = time.monotonic() + 10
    while len(seen) < 5 and time.monotonic() < deadline:
        time.sleep(0.001)
    assert len(seen) >= 5 and threading.current_thread() not in seen
    assert [int(x) for x in iterator] == list(range(1, 10))


def wait_for(condition):
    deadline = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.002)
    return condition()


def workers():
    return [t for t in threading.enumerate() if t.name.startswith("gradus.data")]


def test_threads_end_when_iterators_are_dropped():
    for _ in range(20):
        iterator = iter(D.range(10).repeat().map(lambda x: x + 1, num_parallel_calls=2).prefetch(2))
        next(iterator)
    del iterator
    assert wait_for(lambda: not workers())


def test_an_iterator_frees_what_it_holds():
    class Held:
        pass

    held = Held()
    alive = weakref.ref(held)

    def generate():
        kept = held  # noqa: F821
        while True:
            yield 1 if kept else 0

    iterator = iter(D.from_generator(generate, output_signature=tf.TensorSpec((), tf.int32)).batch(2).prefetch(1))
    next(iterator)
    del iterator, held, generate
    assert wait_for(lambda: alive() is None)


@pytest.mark.parametrize("background", [lambda d: d, lambda d: d.prefetch(2), lambda d: d.batch(1).prefetch(3)])
def test_errors_of_generators_reach_the_consumer(background):
    def generate():
        yield 1
        raise ValueError("the file is gone")

    iterator = iter(background(D.from_generator(generate, output_signature=tf.TensorSpec((), tf.int32))))
    next(iterator)
    with pytest.raises(tf.errors.InvalidArgumentError, match="the file is gone") as info:
        next(iterator)
    assert isinstance(info.value.__cause__, ValueError)
    with pytest.raises(StopIteration):
        next(iterator)


@pytest.mark.parametrize("parallel", [None, 1, 3, tf.data.AUTOTUNE])
def test_errors_of_maps_reach_the_consumer(parallel):
    def fail(x):
        if int(x) == 2:
            raise KeyError("two")
        return x

    iterator = iter(D.range(5).map(fail, num_parallel_calls=parallel).prefetch(1))
    assert [int(next(iterator)), int(next(iterator))] == [0, 1]
    with pytest.raises(KeyError, match="two"):
        next(iterator)


def test_a_parallel_map_keeps_the_order():
    def slower_first(x):
        time.sleep(0.002 * (5 - int(x) % 5))
        return x * x

    assert values(D.range(20).map(slower_first, num_parallel_calls=4)) == [i * i for i in range(20)]
    assert values(D.range(20).map(slower_first, num_parallel_calls=tf.data.AUTOTUNE)) == [i * i for i in range(20)]


def test_random_maps_repeat_after_set_seed():
    def run(parallel):
        tf.random.set_seed(3)
        d = D.range(6).map(lambda x: tf.random.uniform([]), num_parallel_calls=parallel).prefetch(2)
        return values(d) + values(d)

    for parallel in (None, 3):
        first = run(parallel)
        assert first == run(parallel) and len(set(first)) == 12


def test_cache_reads_its_input_once():
    calls = []
    d = D.range(4).map(lambda x: calls.append(1) or x).cache()
    assert next(iter(d)) == 0  # not complete: nothing is kept
    assert values(d) == values(d) == [0, 1, 2, 3]
    assert len(calls) == 5


def test_a_cache_in_a_file(tmp_path):
    calls = []

    def make():
        made = D.range(6).map(lambda x: calls.append(1) or (x, {"half": tf.cast(x, tf.float32) / 2}))
        return made.cache(str(tmp_path / "c"))

    first = values(make())
    assert values(make()) == first and len(calls) <= 7  # read from the file; one call may look for the spec
    assert values(make().shuffle(6, seed=1).batch(4)) == values(D.range(6).map(
        lambda x: (x, {"half": tf.cast(x, tf.float32) / 2})).shuffle(6, seed=1).batch(4))
    with pytest.raises(NotImplementedError, match="memory"):
        list(D.range(3).map(lambda x: tf.range(x)).cache(str(tmp_path / "d")))


def test_texts_of_a_folder(tmp_path, capsys):
    from gradus import keras
    for name, texts in {"neg": ["bad", "worse"], "pos": ["good", "better", "best"]}.items():
        (tmp_path / name).mkdir()
        for i, text in enumerate(texts):
            (tmp_path / name / f"{i}.txt").write_text(text)
    d = keras.utils.text_dataset_from_directory(tmp_path, batch_size=2, seed=1)
    assert capsys.readouterr().out == "Found 5 files belonging to 2 classes.\n" and d.class_names == ["neg", "pos"]
    found = {t: int(n) for texts, numbers in d for t, n in zip(texts.numpy(), numbers)}
    assert found == {b"bad": 0, b"worse": 0, b"good": 1, b"better": 1, b"best": 1}
    train, valid = keras.utils.text_dataset_from_directory(tmp_path, batch_size=None, seed=1, validation_split=0.4,
                                                           subset="both", verbose=False)
    parts = [{t.numpy() for t, _ in part} for part in (train, valid)]
    assert [len(p) for p in parts] == [3, 2] and parts[0] | parts[1] == set(found)


@pytest.mark.parametrize("make", [
    lambda d: d.map(lambda a, b: (a * 2, {"b": b})),
    lambda d: d.map(lambda a, b: a),
    lambda d: d.map(lambda a, b: tf.range(b)),  # of different shapes
    lambda d: d.map(lambda a, b: (a, None)).filter(lambda a, b: True),
    lambda d: d.filter(lambda a, b: b > 100),  # nothing
])
def test_cached_elements_stay_what_they_were(make):
    made = make(D.from_tensor_slices((np.arange(22.0).reshape(11, 2), np.arange(11))))

    def one(dataset):
        plain = lambda t: None if t is None else t.numpy().tolist()  # noqa: E731
        return [tf.nest.map_structure(plain, e) for e in dataset]

    cached = made.cache()
    assert one(cached) == one(made) and one(cached) == one(made) == one(cached)
    shuffled = [d.shuffle(4, seed=3) for d in (made.cache(), made)]
    for _ in range(3):
        assert one(shuffled[0]) == one(shuffled[1])
    assert cached.element_spec == made.element_spec


def test_an_element_spec_leaves_no_trace():
    def odd(x):
        return tf.constant(int(x))  # asks for the value: cannot be traced

    d = D.range(8).shuffle(8, seed=1).map(odd)
    assert d.element_spec == tf.TensorSpec([], tf.int32)
    assert values(d) == values(D.range(8).shuffle(8, seed=1))


def test_a_function_that_goes_through_a_dataset():
    total, traces = tf.Variable(0, dtype=tf.int64), []

    @tf.function
    def add(x):
        traces.append(1)
        total.assign_add(x)

    @tf.function
    def epoch(dataset):
        for x in dataset:
            if tf.reduce_sum(x) > 2:
                add(tf.reduce_sum(x))
        return total.value()

    @tf.function
    def outer(dataset):
        return epoch(dataset) + 1

    d = D.range(7).batch(2)  # sizes vary: epoch runs as Python, and what it calls is compiled
    assert int(epoch(d)) == 20 and int(epoch(d)) == 40 and int(outer(d)) == 61
    assert len(traces) == 1
    d = D.range(8).shuffle(8, seed=1).batch(2, drop_remainder=True)  # a loop of the program
    total.assign(0)
    assert int(epoch(d)) in (26, 27, 28)  # pairs of at most 2 do not count

    @tf.function
    def from_iterator(iterator):
        return next(iterator) * 2

    iterator = iter(D.range(3))
    assert [int(from_iterator(iterator)) for _ in range(3)] == [0, 2, 4]
    assert int(tf.function(lambda d: d.reduce(np.int64(0), lambda s, x: s + x))(D.range(5))) == 10
    assert [int(x) for x in D.range(3).map(tf.function(lambda x: x * 2))] == [0, 2, 4]


def test_structures():
    import collections
    Point = collections.namedtuple("Point", "x y")
    d = D.from_tensor_slices(Point(np.arange(4), {"b": np.ones((4, 2)), "a": np.zeros(4)}))
    first = next(iter(d.batch(3)))
    assert isinstance(first, Point) and list(first.y) == ["b", "a"] and first.y["b"].shape == (3, 2)
    assert next(iter(D.from_tensors((1, None))))[1] is None
    ordered = next(iter(D.from_tensor_slices(collections.OrderedDict(z=[1], a=[2]))))
    assert isinstance(ordered, collections.OrderedDict) and list(ordered) == ["z", "a"]


def test_strings_pass_through():
    d = D.from_tensor_slices((["b", "a", "c"], [1, 2, 3])).shuffle(3, seed=1).batch(2)
    names = np.concatenate([n.numpy() for n, _ in d])
    assert sorted(names) == [b"a", b"b", b"c"]
    first = next(iter(D.from_tensor_slices(["ab"])))
    assert first == "ab" and first.numpy() == b"ab" and first.shape == () and repr(first.dtype) == "tf.string"
    with pytest.raises((TypeError, ValueError)):
        tf.add(first, 1)


def test_string_specs():
    spec = tf.TensorSpec([None], tf.string)
    assert repr(spec) == "TensorSpec(shape=(None,), dtype=tf.string, name=None)"
    d = D.from_generator(lambda: iter([["a", "b"]]), output_signature=spec)
    assert next(iter(d)).numpy().tolist() == [b"a", b"b"] and d.element_spec == spec
    assert next(iter(D.from_generator(lambda: iter(["x"]), output_types=tf.string))).numpy() == b"x"
    with pytest.raises(tf.errors.UnimplementedError):
        tf.cast([1], tf.string)


def test_files(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\r\n\nlast")
    (tmp_path / "b.txt").write_bytes(b"three\n")
    names = D.list_files(str(tmp_path / "*.txt"), shuffle=False)
    lines = [x.numpy() for x in tf.data.TextLineDataset(names)]
    assert lines == [b"one", b"two", b"", b"last", b"three"]
    assert [x.numpy() for x in names.flat_map(tf.data.TextLineDataset)] == lines
    with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched"):
        D.list_files(str(tmp_path / "*.png"))
    with pytest.raises(tf.errors.NotFoundError):
        list(tf.data.TextLineDataset(str(tmp_path / "none")))
    (tmp_path / "c.bin").write_bytes(b"hAAABBBf")
    assert [x.numpy() for x in tf.data.FixedLengthRecordDataset(str(tmp_path / "c.bin"), 3, 1, 1)] == [b"AAA", b"BBB"]


def test_options():
    options = tf.data.Options()
    options.deterministic = False
    options.threading.private_threadpool_size = 3
    d = D.range(3).with_options(options).batch(2)
    assert d.options().deterministic is False and d.options().threading.private_threadpool_size == 3
    assert tf.data.AUTOTUNE == -1 and tf.data.experimental.UNKNOWN_CARDINALITY == -2


def test_an_error_of_the_input_comes_after_the_elements_before_it():
    def elements():
        yield from range(6)
        raise ValueError("broken")
    dataset = tf.data.Dataset.from_generator(elements, output_signature=tf.TensorSpec((), tf.int32))
    found = []
    with pytest.raises(tf.errors.OpError, match="broken"):
        for x in dataset.map(lambda x: 2 * x, num_parallel_calls=4):
            found.append(int(x))
    assert found == [0, 2, 4, 6, 8, 10]
