"""Checks of output folders and files before the work of a command, and one-line messages for later faults.

It uses the standard library only.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path

from openral_core.errors import OutputError

PROBE_BYTES = 64 * 1024
"""Number of bytes that are written and deleted to check for free space."""
_FIXES = {
    errno.ENOSPC: "free some space there, or name another place",
    errno.EDQUOT: "free some space there, or name another place",
    errno.EROFS: "name a place that can be written",
    errno.EACCES: "name a place that you may write",
    errno.EPERM: "name a place that you may write",
    errno.EFBIG: "name a place that takes files of this size",
    errno.ENAMETOOLONG: "name a shorter one",
    errno.ENOTDIR: "name another place",
    errno.EISDIR: "name another place",
    errno.EEXIST: "name another place",
    errno.ELOOP: "name another place",
    errno.EIO: "the disk is faulty; name a place on another one",
}
"""Fix for each error number that comes from the disk and not from a bug."""


def check_folder(path: Path, what: str) -> Path:
    """Check that a folder can be created and written, without leaving a trace, and return it.

    Args:
        path: the folder; may exist.
        what: the option or parameter that named it, for the message.

    Raises:
        OutputError: it cannot be made, is no folder, cannot be written, or its disk is full.
    """
    missing = [folder for folder in (path, *path.parents) if not os.path.lexists(folder)]
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path) as probe:
            probe.write(bytes(PROBE_BYTES))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        why = "is no folder" if isinstance(error, FileExistsError) else _reason(error)
        raise OutputError(
            f"{what} {path}: {why}; {_fix(error, 'name a folder that can be written')}"
        ) from error
    finally:
        for folder in missing:
            with contextlib.suppress(OSError):  # another process has put something into it meanwhile
                folder.rmdir()
    return path


def check_new_folder(path: Path, what: str) -> Path:
    """Check that a folder can be created and written and is empty, and return it.

    Args:
        path: the folder; may exist.
        what: the option or parameter that named it, for the message.

    Raises:
        OutputError: something is in it, or what `check_folder` finds.
    """
    check_folder(path, what)
    if path.exists() and any(path.iterdir()):
        raise OutputError(
            f"{what} {path}: holds something already, which is not written over; name a new folder, or an empty one"
        )
    return path


def make_private(path: Path) -> None:
    """Make the folder of a run: what cameras saw and what was said is for this user only (0700).

    One that is there keeps its mode: whoever made it has decided.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def check_file(path: Path, what: str) -> Path:
    """See that a file can be written, and return its path; its folder is made when it is.

    Args:
        path: the file; one that is there will be replaced.
        what: the option that named it, for the message.

    Raises:
        OutputError: it is a folder, a pipe or a device, or it or its folder cannot be written.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    except OSError as error:
        raise OutputError(f"{what} {path}: {_reason(error)}; {_fix(error, 'name another file')}") from error
    if mode is not None and not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
        raise OutputError(f"{what} {path}: is {kind}; name a file")
    if mode is not None and not os.access(path, os.W_OK):
        raise OutputError(f"{what} {path}: Permission denied; name a file that you may write")
    check_folder(path.parent, f"the folder of {what}")
    return path


def disk_fault(error: OSError, place: Path | None = None) -> str | None:
    """Return one line about a fault of a disk or its permissions; None for any other error, which is a bug's.

    Args:
        error: the fault; where it names no file, as a write into an open one does not, `place` is named.
        place: folder or file that was written; None: nobody knows.
    """
    if error.errno not in _FIXES:
        return None
    where = error.filename if error.filename is not None else place
    named = f"{where}: " if where is not None else ""
    return f"{named}{os.strerror(error.errno)}; {_FIXES[error.errno]}"


def write_fault(error: Exception, place: Path) -> str:
    """Return in one line why something could not be written at `place`, whatever was raised."""
    fault = disk_fault(error, place) if isinstance(error, OSError) else None
    return fault or str(error)


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__


def _fix(error: OSError, usual: str) -> str:
    return _FIXES.get(error.errno or 0, usual)
