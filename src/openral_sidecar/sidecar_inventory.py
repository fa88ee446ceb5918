"""Sidecars' servers and files on this machine, and their removal."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import time
from collections.abc import Collection
from pathlib import Path

from openral_core.errors import SidecarError
from openral_core.files.cache import cache_home
from openral_sidecar.environment.build import environment_folder, lock_file
from openral_sidecar.environment.file_lock import exclusive
from openral_sidecar.environment.spec import SidecarSpec
from openral_sidecar.errors import SidecarTimeout
from openral_sidecar.paths import environments_folder, log_folder, run_folder
from openral_sidecar.process import GRACE_S, KEEP_S, LOOK_S, changed_s, end_group, old_logs
from openral_sidecar.server_announcement import ServerIdentity, announcements, forget, is_alive
from openral_sidecar.table import sidecar_names, sidecar_spec

BESIDE_A_PORT = (".json", ".sock")
_OF_A_PORT = re.compile(r"[0-9]+\.(json|sock)")
_RUN = re.compile(r"[0-9]+(-[0-9]+-[0-9a-f]+)?\.log")
"""End of the name of a sidecar's log, after the sidecar's name, which may be the begin of another's."""
_TOKEN = re.compile(r".+-[0-9a-f]{8}\.token")
"""Names of the files that servers leave in the run folder, in which consoles and MCP servers have theirs, too."""


def running(target: str | None) -> list[ServerIdentity]:
    """Return the running servers at a port or of a sidecar's name; `target` None: all.

    Raises:
        SidecarError: none matches; the message lists the running ones.
    """
    everyone = list(announcements())
    # A server that was started by hand has no name, and an empty target, as of an unset variable, is none.
    found = [
        other
        for other in everyone
        if target is None or (target != "" and target in (str(other.port), other.spec))
    ]
    if not found and target is not None:
        names = (
            ", ".join(f"{other.spec or other.identity.model} at {other.port}" for other in everyone) or "none"
        )
        raise SidecarError(f"no server {target!r}; those that run: {names}")
    return found


def stop(server: ServerIdentity) -> None:
    """End a server and all that it started, by SIGTERM and after GRACE_S by SIGKILL.

    Raises:
        SidecarError: the server belongs to another user.
    """
    try:
        leader = os.getpgid(server.pid) == server.pid
        os.kill(server.pid, signal.SIGTERM)
    except ProcessLookupError:
        leader = False
    except PermissionError as error:
        raise SidecarError(f"pid {server.pid} belongs to another user; ask them to end it") from error
    until = time.monotonic() + GRACE_S
    while is_alive(server.pid) and time.monotonic() < until:
        time.sleep(LOOK_S)
    if leader:
        end_group(server.pid)
    forget(server.pid)


def log_of(target: str | None) -> Path:
    """Return the log of the server at a port, or the newest log of a sidecar's name; `target` None: the newest of all.

    Raises:
        SidecarError: there is none.
    """
    for server in announcements():
        if str(server.port) == target and server.log:
            return Path(server.log)
    logs = [
        path
        for path in log_folder().glob("*-*.log")
        if not target or (path.name.startswith(f"{target}-") and _RUN.fullmatch(path.name, len(target) + 1))
    ]
    there = [path for path in sorted(logs, key=changed_s) if path.exists()]
    if not there:
        raise SidecarError(
            f"no log of {target or 'a sidecar'!r} in {log_folder()}; give a port or a sidecar's name"
        )
    return there[-1]


def size_of(path: Path) -> int:
    """Return the size [bytes] of a file or folder; files that uv shares between environments count in each."""
    names = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
    size = 0
    for name in names if path.is_dir() else [path]:
        with contextlib.suppress(
            FileNotFoundError
        ):  # who starts a server deletes logs, who builds renames files
            size += os.lstat(name).st_size
    return size


def disposable(*, everything: bool) -> list[Path]:
    """Return what can be deleted: environments of no present spec, old logs, and files of servers that have ended.

    Args:
        everything: also include all environments, locks, logs and bundles that no running server uses.
    """
    active = list(announcements())
    wanted = {path for spec in _specs() for path in (environment_folder(spec), lock_file(spec))}
    in_use = tuple(f"{other.spec}-{other.digest[:12]}" for other in active)
    found = [
        path
        for path in sorted(environments_folder().glob("[!.]*"))
        if (everything or path not in wanted) and not path.name.startswith(in_use)
    ]
    if everything and not active:
        found += sorted((cache_home() / "bundles").glob("*"))
    old = time.time() - KEEP_S
    found += old_logs(active, 0.0 if everything else KEEP_S)
    used = {Path(other.token_file).name for other in active}
    used |= {f"{other.port}{end}" for other in active for end in BESIDE_A_PORT}
    for path in sorted(run_folder().iterdir()):
        is_old_token = _TOKEN.fullmatch(path.name) and changed_s(path) < old
        if path.name not in used and (_OF_A_PORT.fullmatch(path.name) or is_old_token):
            found.append(path)
    return found


def delete(path: Path) -> bool:
    """Remove a file or folder of `disposable`, and return True; False: it is kept, as it is being built."""
    if not path.is_dir():
        path.unlink(missing_ok=True)
        return True
    building = path.with_name(f".{path.name}.building")
    with contextlib.suppress(SidecarTimeout), exclusive(building, 0.0):
        shutil.rmtree(path, ignore_errors=True)
        return True
    return False


def _specs() -> Collection[SidecarSpec]:
    """Return the specs that can be loaded; the environment of another spec counts as disposable."""
    specs = []
    for name in sidecar_names():
        with contextlib.suppress(SidecarError):
            specs.append(sidecar_spec(name))
    return specs
