"""Files that appear whole or not at all, and their mistakes as the errors of tf.errors."""
import contextlib
import os
import secrets


@contextlib.contextmanager
def written_aside(path):
    """An open binary file beside `path` that takes its place when the block ends without an exception.

    The bytes are on the disk before the name changes, so that neither a crash nor a full disk leaves half a file:
    whoever reads sees the old one or the new one.
    """
    path = os.path.realpath(os.fspath(path))
    folder, name = os.path.split(path)
    aside = os.path.join(folder, f".{name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    try:
        with open(aside, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(OSError):
            os.chmod(aside, os.stat(path).st_mode & 0o7777)
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def text_of(path):
    """A file name, whatever it is given as."""
    if hasattr(path, "numpy"):
        path = path.numpy()
    return os.fsdecode(os.fspath(path))
