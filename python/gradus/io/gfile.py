"""tf.io.gfile: the local file system."""
import glob as _glob
import os
import shutil

from .. import errors
from .._files import text_of


def _guarded(call, *paths, **options):
    names = [text_of(p) for p in paths]
    try:
        return call(*names, **options)
    except FileNotFoundError as error:
        raise errors.NotFoundError(None, None, str(error)) from None
    except FileExistsError as error:
        raise errors.AlreadyExistsError(None, None, str(error)) from None
    except PermissionError as error:
        raise errors.PermissionDeniedError(None, None, str(error)) from None
    except OSError as error:
        raise errors.FailedPreconditionError(None, None, str(error)) from None


class GFile:
    """A local file, with TensorFlow's errors."""

    def __init__(self, name, mode="r"):
        if mode not in ("r", "w", "a", "r+", "w+", "a+", "rb", "wb", "ab", "rb+", "wb+", "ab+"):
            raise errors.InvalidArgumentError(None, None, f"{mode} is not a mode of files")
        self.name, self.mode = text_of(name), mode
        self._file = None

    def _open(self):
        if self._file is None:
            encoding = None if "b" in self.mode else "utf-8"
            self._file = _guarded(open, self.name, mode=self.mode, encoding=encoding)
        return self._file

    def __getattr__(self, name):
        if name in ("read", "readline", "readlines", "write", "seek", "tell", "flush"):
            return getattr(self._open(), name)
        raise AttributeError(name)

    def size(self):
        return stat(self.name).length

    def seekable(self):
        return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __iter__(self):
        return iter(self._open())

    def __next__(self):
        return next(self._open())

    def close(self):
        if self._file is None and "w" in self.mode:
            self._open()  # an empty file
        if self._file is not None:
            self._file.close()
            self._file = None


class _Stat:
    def __init__(self, facts, folder):
        self.length, self.mtime_nsec, self.is_directory = facts.st_size, facts.st_mtime_ns, folder


def exists(path):
    return os.path.exists(text_of(path))


def isdir(path):
    return os.path.isdir(text_of(path))


def stat(path):
    return _Stat(_guarded(os.stat, path), isdir(path))


def listdir(path):
    if not isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {text_of(path)}")
    return _guarded(os.listdir, path)


def glob(pattern):
    """The names that match a pattern or several, sorted."""
    patterns = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else pattern
    return [name for p in patterns for name in sorted(_glob.glob(text_of(p)))]


def mkdir(path):
    _guarded(os.mkdir, path)


def makedirs(path):
    _guarded(os.makedirs, path, exist_ok=True)


def remove(path):
    _guarded(os.remove, path)


def rmtree(path):
    _guarded(shutil.rmtree, path)


def copy(src, dst, overwrite=False):
    if exists(dst) and not overwrite:
        raise errors.AlreadyExistsError(None, None, f"file already exists: {text_of(dst)}")
    _guarded(shutil.copyfile, src, dst)


def rename(src, dst, overwrite=False):
    if exists(dst) and not overwrite:
        raise errors.AlreadyExistsError(None, None, f"file already exists: {text_of(dst)}")
    _guarded(os.replace, src, dst)


def walk(top, topdown=True, onerror=None):
    return os.walk(text_of(top), topdown=topdown, onerror=onerror)


def join(path, *paths):
    return os.path.join(text_of(path), *(text_of(p) for p in paths))


def get_registered_schemes():
    return [""]
