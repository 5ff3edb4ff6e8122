"""Work in the background: prefetching and parallel maps.

A worker knows two queues and its input, never the iterator that reads from it: when that one is dropped, the worker is
told to stop and ends after the element at hand. What goes wrong in a worker is raised where its result would have been.
"""
import atexit
import collections
import concurrent.futures
import os
import queue
import threading
import time
import weakref

from . import _shuffle

_STOP, _NEXT = object(), object()
_END, _VALUE, _ERROR = range(3)
_running = weakref.WeakKeyDictionary()  # thread -> the queue that stops it
UNSEEDED = 87654321  # the first of an op's seeds as long as nobody has called set_seed


def _stop_all():
    """Before the interpreter goes: no thread may be inside the engine then."""
    threads = list(_running.items())
    for _, tokens in threads:
        tokens.put(_STOP)
    for thread, _ in threads:
        thread.join(timeout=2)


atexit.register(_stop_all)


def thread_seed(number):
    """A seed for the random numbers of a thread, or None if this thread has no seed of its own."""
    seed, _ = _shuffle.op_seeds(0)
    return None if seed == UNSEEDED else (seed * 1000003 + number) % 2 ** 31


def _set_seed(seed):
    if seed is not None:
        import gradus
        gradus.random.set_seed(seed)


def _fill(make, tokens, items, seed):
    """The body of a prefetching thread."""
    try:
        _set_seed(seed)
        elements = make()
        while tokens.get() is not _STOP:
            try:
                value = next(elements)
            except StopIteration:
                items.put((_END, None))
                return
            except Exception as error:
                items.put((_ERROR, error))
                continue
            items.put((_VALUE, value))
            del value
    except BaseException as error:  # noqa: B902
        items.put((_ERROR, error))
        items.put((_END, None))


def prefetched(make, size, seed):
    """The elements of make(), an iterator made and advanced by a thread that runs up to `size` elements ahead."""
    tokens, items = queue.SimpleQueue(), queue.SimpleQueue()
    thread = threading.Thread(target=_fill, args=(make, tokens, items, seed), name="gradus.data.prefetch", daemon=True)
    _running[thread] = tokens
    for _ in range(size):
        tokens.put(_NEXT)
    thread.start()
    return _Prefetched(tokens, items)


class _Prefetched:
    """The reading end. Dropping it stops the thread."""

    __slots__ = ("_tokens", "_items", "_done", "__weakref__")

    def __init__(self, tokens, items):
        self._tokens, self._items, self._done = tokens, items, False

    def __iter__(self):
        return self

    def __next__(self):
        if self._done:
            raise StopIteration
        kind, value = self._items.get()
        if kind == _VALUE:
            self._tokens.put(_NEXT)
            return value
        if kind == _ERROR:
            self._tokens.put(_NEXT)
            raise value
        self._done = True
        raise StopIteration

    def __del__(self):
        self._tokens.put(_STOP)


def _call(function, element, seed):
    _set_seed(seed)
    return function(element)


class ParallelMap:
    """function(element) for several elements at a time; the results in the order of the elements."""

    def __init__(self, function, elements, workers, seed):
        self._function, self._elements, self._seed, self._count = function, elements, seed, 0
        self._pool = concurrent.futures.ThreadPoolExecutor(workers, "gradus.data.map")
        self._pending, self._ahead = collections.deque(), workers
        weakref.finalize(self, self._pool.shutdown, wait=False, cancel_futures=True)

    def __iter__(self):
        return self

    def __next__(self):
        while self._elements is not None and len(self._pending) < self._ahead:
            try:
                element = next(self._elements)
            except StopIteration:
                self._elements = None
                break
            except Exception as error:  # raised in its turn, after the elements before it
                failed = concurrent.futures.Future()
                failed.set_exception(error)
                self._pending.append(failed)
                continue
            seed = None if self._seed is None else self._seed + self._count
            self._count += 1
            self._pending.append(self._pool.submit(_call, self._function, element, seed))
        if not self._pending:
            self._pool.shutdown(wait=False)
            raise StopIteration
        return self._pending.popleft().result()


SLOW = 0.5e-3  # seconds per element from which on another thread is worth its handing over
TRIED = 4


def autotuned_map(function, elements, seed):
    """Maps here while that is quick, and on as many threads as there are processors if it is slow."""
    begin, spent = time.perf_counter, 0.0
    for count, element in enumerate(elements):
        start = begin()
        result = function(element)
        spent += begin() - start
        yield result
        if count + 1 == TRIED:
            break
    else:
        return
    if spent / TRIED > SLOW and (os.cpu_count() or 1) > 1:
        yield from ParallelMap(function, elements, os.cpu_count(), seed)
    else:
        yield from map(function, elements)
