"""Unix sockets that connect the sessions of one user, on one machine and in one domain.

Every session listens on a socket `<pid>-<random>.sock` in the folder `/tmp/ros2_embedded-<uid>/<domain>`,
which only its user may enter, and connects to all sockets that it finds there. No port is opened, and there
is no discovery over a network; other users of the machine can neither see nor reach the sessions.

Zenoh holds a lock on `<socket>.lock` while it listens. A socket without that lock was left by a killed
process, and is removed by the next session that opens or closes. Systems that clean `/tmp` by age remove the
lock's file of a session that lives for weeks, but not its socket; whether anybody listens there tells then.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import socket
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/tmp")
"""Parent folder for all processes; unlike `TMPDIR` it does not differ between shells and services."""
PROTOCOL = "unixsock-stream"
LOCK_PATIENCE_S = 1.0
"""[s] longest wait of an opening session for another one that is opening, which may have been stopped."""
_RETRY = "#retry_period_init_ms=1000;retry_period_max_ms=60000"
"""Retries serve processes that are stopped or busy; the name of a killed process is never used again."""


class LocalLinkError(OSError):
    """The folder of the sockets cannot be used; the text names the folder and the fix."""


@dataclass(frozen=True)
class LocalEndpoints:
    """Zenoh endpoints of Unix sockets."""

    listen: tuple[str, ...] = ()
    """Endpoint of this session; empty: it uses no Unix sockets."""
    connect: tuple[str, ...] = ()
    """Endpoints of the existing sessions."""


@contextlib.contextmanager
def joining(domain: int, root: Path = ROOT) -> Iterator[LocalEndpoints]:
    """Yield the endpoints of a session that is opened within the block.

    If two sessions open at the same time, one waits for the other, so that it finds the other's socket.

    Args:
        domain: ROS domain id; the session connects only to others of this domain.
        root: parent of the user's folder.

    Raises:
        LocalLinkError: the folder belongs to another user, or cannot be made or written.
    """
    folder = private_folder(domain, root)
    own = folder / f"{os.getpid()}-{secrets.token_hex(4)}.sock"
    with _lock(folder / "opening"):
        others = [path for path in sorted(folder.glob("*.sock")) if not _remove_if_left(path)]
        yield LocalEndpoints((f"{PROTOCOL}/{own}",), tuple(f"{PROTOCOL}/{path}{_RETRY}" for path in others))
        with contextlib.suppress(FileNotFoundError):  # the environment may have set other endpoints
            own.chmod(0o600)


def remove_left(domain: int, root: Path = ROOT) -> None:
    """Remove the sockets that killed processes left.

    While another session is opening, nothing is removed: it does so itself, and its socket is not locked yet.
    """
    folder = _user_folder(root) / str(domain)
    with contextlib.suppress(OSError):  # the next session to open tries again
        descriptor = os.open(folder / "opening", os.O_RDWR | os.O_CLOEXEC)
        try:
            if _try_lock(descriptor):
                for path in folder.glob("*.sock"):
                    _remove_if_left(path)
        finally:
            os.close(descriptor)


def private_folder(domain: int, root: Path = ROOT) -> Path:
    """Return the folder of a domain's sockets, which only this user may enter; create it if it is missing.

    Raises:
        LocalLinkError: the folder belongs to another user, or cannot be created.
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
    """Hold a lock while the block runs, or go on without it after LOCK_PATIENCE_S.

    Raises:
        LocalLinkError: its file cannot be made, as on a full disk.
    """
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise LocalLinkError(f"no socket for this ROS session can be made: {error}") from error
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
    """Remove a socket if no session listens on it any more; return whether it was removed."""
    lock = path.with_name(path.name + ".lock")
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:  # Zenoh removes the socket before its lock
        if _somebody_listens(path):
            return False
        path.unlink(missing_ok=True)
        return True
    try:
        if not _try_lock(descriptor):
            return False
        path.unlink(missing_ok=True)
        lock.unlink(missing_ok=True)
        return True
    finally:
        os.close(descriptor)


def _somebody_listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.setblocking(False)
        try:
            link.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:  # such as a full queue of connections
            return True
        return True
