"""Identity files, one per port, which tell before a call which model and which process answers there."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from openral_core.files.atomic import write_atomically
from openral_sidecar.identity import Identity
from openral_sidecar.paths import run_folder


@dataclass(frozen=True)
class ServerIdentity:
    """The content of an identity file: a server that runs on this machine, and how to reach it."""

    identity: Identity
    spec: str
    """Name of its spec; empty for a server that was started without one."""
    digest: str
    """Digest of that spec."""
    arguments: tuple[str, ...]
    """The family's own arguments, without the ones that every server takes."""
    pid: int
    host: str
    port: int
    shared: bool = True
    """Whether other clients may use the server; False: it has a state that belongs to one client."""
    token_file: str = ""
    log: str = ""
    socket: str = ""
    """Path of the Unix socket on which the server also listens; empty: there is none."""
    began: str = ""
    """Start of its process, see `beginning_of`; set by `write_announcement`."""

    @property
    def endpoint(self) -> str:
        """Fastest ZeroMQ address: a Unix socket, if there is one, reduces the time of a large message by a quarter."""
        return f"ipc://{self.socket}" if self.socket else f"tcp://{self.host}:{self.port}"

    @property
    def alive(self) -> bool:
        """Whether its process exists; another process that has the same id by now does not count."""
        return is_alive(self.pid) and beginning_of(self.pid) == self.began

    def token(self) -> str:
        """Return the token of the server; empty: it has none, or it cannot be read."""
        with contextlib.suppress(OSError, UnicodeDecodeError):
            return read_token(Path(self.token_file)) if self.token_file else ""
        return ""


def read_token(path: Path) -> str:
    """Return the first line of a token's file; empty: it has none. Raises OSError, or UnicodeDecodeError."""
    return path.read_text(encoding="utf-8").strip().partition("\n")[0].rstrip()


def is_alive(pid: int) -> bool:
    """Return whether a process of that id runs; a zombie does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]  # proc(5)
    except (OSError, IndexError):
        return True  # there is no /proc
    return state not in ("Z", "X")


def beginning_of(pid: int) -> str:
    """Return the boot id of this machine and the start of a process since boot [1/100 s] (proc(5), field 22).

    The text is empty if there is no such process, or no /proc.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[19]}"
    except (OSError, IndexError):
        return ""


def write_announcement(announcement: ServerIdentity) -> Path:
    """Write the identity file of a port atomically, readable by this user only, and return its path."""
    path = run_folder() / f"{announcement.port}.json"
    announcement = replace(announcement, began=beginning_of(announcement.pid))
    write_atomically(path, json.dumps(asdict(announcement), indent=1), private=True)
    return path


def read_announcement(port: int) -> ServerIdentity | None:
    """Return the server announced at `port`; None: there is none, or it has ended."""
    found = _read(run_folder() / f"{port}.json")
    return found if found is not None and found.alive else None


def announcements() -> Iterator[ServerIdentity]:
    """Yield every announced server that is alive."""
    for path in sorted(run_folder().glob("[0-9]*.json")):
        if path.stem.isdigit() and (found := read_announcement(int(path.stem))) is not None:
            yield found


def forget(pid: int) -> None:
    """Remove the identity file, socket and token of a process that has ended, and all sockets without a server."""
    for path in run_folder().glob("[0-9]*.json"):
        found = _read(path)
        if found is not None and found.pid == pid:
            path.unlink(missing_ok=True)
            path.with_suffix(".sock").unlink(missing_ok=True)
            if Path(found.token_file).parent == run_folder():  # written for this server only
                Path(found.token_file).unlink(missing_ok=True)
    for path in run_folder().glob(
        "[0-9]*.sock"
    ):  # left by a server that was killed between binding and announcing
        if not path.with_suffix(".json").exists() and not _is_served(path):
            path.unlink(missing_ok=True)


def _is_served(path: Path) -> bool:
    """Return whether a process listens on a Unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:  # its queue is full, so that a process listens
            return True
        return True


def _read(path: Path) -> ServerIdentity | None:
    """Return the content of an identity file; None: it is missing or malformed."""
    try:
        data = json.loads(path.read_text())
        known = {field.name: data[field.name] for field in fields(ServerIdentity)}
        known |= {"identity": Identity(**data["identity"]), "arguments": tuple(data["arguments"])}
    except (OSError, ValueError, TypeError, KeyError):
        return None
    found = ServerIdentity(**known)
    whole = (
        type(found.pid) is int and found.pid > 1 and type(found.port) is int
    )  # other pids mean process groups, or init
    return found if whole else None
