"""The Unix sockets by which sessions of one user, on one machine and in one domain, reach each other.

Every session listens on a socket `<pid>-<random>.sock` in the folder `/tmp/ros2_embedded-<uid>/<domain>`,
which only its user may enter, and connects to all sockets that it finds there. No port is opened and nothing
is searched for on a network; another user of the machine can neither see nor reach the sessions.

Zenoh holds a lock on `<socket>.lock` while it listens. A socket without that lock was left by a process that
was killed, and is removed by the next session that opens or closes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/tmp")
"""Not `TMPDIR`, which differs between shells and services: all processes of a user look in the same place."""
PROTOCOL = "unixsock-stream"
LOCK_PATIENCE_S = 1.0
"""[s] for which opening waits for a session that opens at the same time. A process that was stopped in the
middle of it does not hold up the others for longer."""
_RETRY = "#retry_period_init_ms=1000;retry_period_max_ms=60000"
"""A process that is stopped or busy is tried again, one that was killed never comes back under its name."""


class LocalLinkError(OSError):
    """The folder of the sockets cannot be used; the text names it and what to do."""


@dataclass(frozen=True)
class LocalEndpoints:
    """Zenoh endpoints of Unix sockets."""

    listen: tuple[str, ...] = ()
    """Of this session; none where sessions of this machine are not to be reached."""
    connect: tuple[str, ...] = ()
    """Of the sessions that are there already."""


@contextlib.contextmanager
def joining(domain: int, root: Path = ROOT) -> Iterator[LocalEndpoints]:
    """Yield the endpoints to open a session with; open it in the block.

    Of two sessions that open at the same time one waits for the other, so that it finds its socket.

    Args:
        domain: ROS domain id; sessions of other domains are not reached.
        root: where the user's folder lies.

    Raises:
        LocalLinkError: the folder belongs to another user, or cannot be made.
    """
    folder = private_folder(domain, root)
    own = folder / f"{os.getpid()}-{secrets.token_hex(4)}.sock"
    with _lock(folder / "opening"):
        others = [path for path in sorted(folder.glob("*.sock")) if not _remove_if_left(path)]
        yield LocalEndpoints((f"{PROTOCOL}/{own}",), tuple(f"{PROTOCOL}/{path}{_RETRY}" for path in others))
        with contextlib.suppress(FileNotFoundError):  # the environment may have asked for other endpoints
            own.chmod(0o600)


def remove_left(domain: int, root: Path = ROOT) -> None:
    """Remove the sockets that killed processes left.

    While a session opens nothing is done: it removes them itself, and its own socket is not locked yet.
    """
    folder = _user_folder(root) / str(domain)
    with contextlib.suppress(OSError):  # whoever opens next tries again
        descriptor = os.open(folder / "opening", os.O_RDWR | os.O_CLOEXEC)
        try:
            if _try_lock(descriptor):
                for path in folder.glob("*.sock"):
                    _remove_if_left(path)
        finally:
            os.close(descriptor)


def private_folder(domain: int, root: Path = ROOT) -> Path:
    """Return the folder of a domain's sockets, which nobody but this user may enter; make what is missing.

    Raises:
        LocalLinkError: it belongs to another user, or cannot be made.
    """
    user = _user_folder(root)
    folder = user / str(domain)
    try:
        user.mkdir(mode=0o700, exist_ok=True)
        found = user.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise LocalLinkError(
                f"{user} must be a folder that user {os.getuid()} owns and nobody else may enter "
                "(mode 0700): remove it and start again"
            )
        folder.mkdir(mode=0o700, exist_ok=True)
    except LocalLinkError:
        raise
    except OSError as error:
        raise LocalLinkError(f"no folder for the sockets of ROS nodes can be made: {error}") from error
    return folder


def _user_folder(root: Path) -> Path:
    return root / f"ros2_embedded-{os.getuid()}"


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold a lock while the block runs, or go on without it after LOCK_PATIENCE_S."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        end = time.monotonic() + LOCK_PATIENCE_S
        while not _try_lock(descriptor) and time.monotonic() < end:
            time.sleep(0.002)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _remove_if_left(path: Path) -> bool:
    """Remove a socket that no session listens on any more; return whether it was one."""
    lock = path.with_name(path.name + ".lock")
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        path.unlink(missing_ok=True)  # Zenoh removes the socket before its lock
        return True
    try:
        if not _try_lock(descriptor):
            return False
        path.unlink(missing_ok=True)
        lock.unlink(missing_ok=True)
        return True
    finally:
        os.close(descriptor)
