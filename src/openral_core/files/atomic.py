"""Atomic replacement of files, which are written to a temporary file in the same folder and then renamed.

It uses the standard library only.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PARTIAL = ".partial"
"""Suffix of files that are being written: `.<name>.<8 hex digits>.partial`, beside the file they become."""


@contextmanager
def replaced_file(path: Path, *, private: bool = False, durable: bool = False) -> Iterator[Path]:
    """Yield the path of a new, empty file that takes the place of `path` when the block ends without an error.

    The block writes to the file, or has a library write to it; the file must not be replaced by another one. No two
    writers, threads or processes, share a name. The file is deleted when the block raises, and one that a killed
    process left is deleted by the next writer of `path`.

    Args:
        path: the file to make or to replace; its folder exists.
        private: only this user may read and write it (0600); else the umask decides, as for any new file.
        durable: flush content and name to the disk, so that a power failure after the block loses neither.

    Raises:
        OSError: it cannot be written; what was at `path` is still there.
    """
    _delete_abandoned(path)
    partial, descriptor = _new_file(path, 0o600 if private else 0o666)
    try:
        yield partial
        if durable:
            os.fsync(descriptor)  # of the file, whichever descriptor wrote to it
        os.replace(partial, path)
    except BaseException as error:
        partial.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, str(partial), partial):
            error.filename = str(path)  # the name that the user knows
        raise
    finally:
        os.close(descriptor)
    if durable:
        sync_folder(path.parent)


def write_atomically(
    path: Path, content: str | bytes | memoryview, *, private: bool = False, durable: bool = False
) -> None:
    """Write a file atomically; see `replaced_file`.

    Args:
        path: the file to make or to replace; its folder exists.
        content: text is written as UTF-8, with its line ends as they are.
        private: only this user may read and write it (0600).
        durable: flush content and name to the disk.

    Raises:
        OSError: it cannot be written; what was at `path` is still there.
    """
    with replaced_file(path, private=private, durable=durable) as partial:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries (created, renamed or deleted files) to the disk. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _new_file(path: Path, mode: int) -> tuple[Path, int]:
    """Return a new file beside `path` and a descriptor that holds its lock, which ends with this process."""
    while True:
        partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}{PARTIAL}")
        try:
            descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        except OSError as error:
            error.filename = str(path)  # the name that the user knows
            raise
        with contextlib.suppress(
            OSError
        ):  # no locks on this file system, so that nobody deletes abandoned files
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return partial, descriptor
        os.close(descriptor)  # another writer took it for abandoned before it was locked


def _delete_abandoned(path: Path) -> None:
    """Delete what killed writers of `path` left beside it: files that no process holds locked."""
    pattern = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}{re.escape(PARTIAL)}")
    with contextlib.suppress(OSError):
        for name in os.listdir(path.parent):
            if pattern.fullmatch(name):
                _delete_unlocked(path.with_name(name))


def _delete_unlocked(partial: Path) -> None:
    with contextlib.suppress(OSError):  # it is locked, or gone
        descriptor = os.open(partial, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            partial.unlink()
        finally:
            os.close(descriptor)
