"""Finding the server that is asked for, or starting it, and making sure that it is the right one."""

from __future__ import annotations

import hashlib
import logging
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openral_core.errors import SidecarError
from openral_sidecar.client import SidecarClient
from openral_sidecar.errors import IdentityMismatch, SidecarDown, SidecarTimeout
from openral_sidecar.identity import Announcement, Identity, announcements, read_announcement
from openral_sidecar.locks import exclusive
from openral_sidecar.paths import run_folder
from openral_sidecar.process import ServerProcess
from openral_sidecar.server import is_loopback
from openral_sidecar.settings import SidecarSettings
from openral_sidecar.spec import SidecarSpec

HELLO_S = 10.0
"""How long a server that is already up may take to say who it is."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Wanted:
    """What is asked for, complete: the server could be started from it."""

    spec: SidecarSpec
    python: Path
    arguments: tuple[str, ...]
    identity: Identity
    settings: SidecarSettings

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"sidecar {self.spec.name} ({self.identity.model})"


@dataclass(frozen=True)
class Server:
    """A server that said it is the one that was asked for."""

    client: SidecarClient
    token: str
    description: dict[str, Any]
    fate: Callable[[], str | None]
    """Says how it ended; None while it is there, as far as this machine can tell."""
    process: ServerProcess | None
    """None: somebody else started it."""

    def end(self, *, at_once: bool = False) -> None:
        """Close the connection, and end the server if we started it."""
        self.client.close()
        if self.process is not None:
            self.process.end(at_once=at_once)


def connect(wanted: Wanted, given_up: Callable[[], bool]) -> Server:
    """Return a running server that fits, or start one and wait until its model is loaded.

    Args:
        wanted: what is asked for.
        given_up: asked while waiting; true ends the wait.

    Raises:
        IdentityMismatch: another model answers at the port.
        SidecarDown: the server ended while it loaded, or there is none and none may be started.
        SidecarTimeout: it was not ready in time.
        SidecarError: the port is somebody else's, or the server refused.
    """
    settings, spec = wanted.settings, wanted.spec
    if not settings.shared:
        return _start(wanted, given_up)
    asked = repr((spec.digest, settings.host, settings.port or (wanted.identity, wanted.arguments)))
    lock = run_folder() / f".{spec.name}-{hashlib.sha256(asked.encode()).hexdigest()[:16]}.lock"
    with exclusive(lock, settings.boot_timeout_s, lambda: _check(given_up)):
        found = _at_port(wanted) if settings.port else _anywhere(wanted)
        return found or _start(wanted, given_up)


def _anywhere(wanted: Wanted) -> Server | None:
    """Return a server on this machine that was started as ours would be."""
    ours = (wanted.identity, wanted.spec.name, wanted.spec.digest, wanted.arguments, True)
    for other in announcements():
        if (other.identity, other.spec, other.digest, other.arguments, other.shared) == ours:
            try:
                return _use(wanted, other)
            except SidecarError as error:
                _log.warning("%s: %s is announced but cannot be used: %s", wanted.name, other.endpoint, error)
    return None


def _at_port(wanted: Wanted) -> Server | None:
    """Return the server at the chosen port; None: nothing is there."""
    settings = wanted.settings
    local = is_loopback(settings.host)
    other = read_announcement(settings.port) if local else None
    where = f"{settings.host}:{settings.port}"
    if other is not None:
        if other.spec not in ("", wanted.spec.name) or other.identity != wanted.identity:
            raise mismatch(wanted, where, other.identity, f"pid {other.pid}")
        if not other.shared:
            raise SidecarError(
                f"{wanted.name}: the server at {where} belongs to another client; use another port"
            )
        return _use(wanted, other)
    try:
        socket.create_connection((settings.host, settings.port), timeout=HELLO_S).close()
    except OSError as error:
        if local:
            return None
        raise SidecarDown(
            f"{wanted.name}: {where}: {error}; start it there, or mend host and port"
        ) from error
    return _use(wanted, None)


def _use(wanted: Wanted, other: Announcement | None) -> Server:
    """Connect to a server that somebody else started."""
    settings = wanted.settings
    endpoint = other.endpoint if other else f"tcp://{settings.host}:{settings.port}"
    token = settings.token or (other.token() if other else "")
    client = SidecarClient(endpoint, token=token, dialect=wanted.spec.dialect)

    def fate() -> str | None:
        return None if other is None or other.alive else f"pid {other.pid} ended"

    try:
        description = _hello(wanted, client, HELLO_S, fate, announced=other is not None)
    except SidecarTimeout as error:
        client.close()
        raise SidecarError(
            f"{wanted.name}: whatever is at {endpoint} does not answer; use another port"
        ) from error
    except BaseException:
        client.close()
        raise
    return Server(client, token, description, fate, None)


def _start(wanted: Wanted, given_up: Callable[[], bool]) -> Server:
    settings = wanted.settings
    if not settings.auto_spawn or not is_loopback(settings.host):
        raise SidecarDown(
            f"{wanted.name}: none runs at {settings.host}:{settings.port or 'any port'}, and none may be started here; "
            f"start one with `openral sidecar start {wanted.spec.name}`"
        )
    until = time.monotonic() + settings.boot_timeout_s
    process = ServerProcess(
        wanted.spec, wanted.python, wanted.arguments,
        host=settings.host, port=settings.port, shared=settings.shared,
    )  # fmt: skip
    client = None
    try:
        announced = process.wait_ready(wanted.name, settings.boot_timeout_s, lambda: _check(given_up))
        client = SidecarClient(announced.endpoint, token=announced.token(), dialect=wanted.spec.dialect)
        lost = process.fate
        left = until - time.monotonic()
        description = _hello(wanted, client, left, lambda: "closed" if given_up() else lost(), announced=True)
    except BaseException:
        if client is not None:
            client.close()
        process.end(at_once=True)
        raise
    return Server(client, announced.token(), description, lost, process)


def _hello(
    wanted: Wanted,
    client: SidecarClient,
    timeout_s: float,
    lost: Callable[[], str | None],
    *,
    announced: bool,
) -> dict[str, Any]:
    """Make sure that the server is the one that is asked for; return its description.

    The rldx dialect has no word for who one is: there the identity file is all there is, and upstream's own server,
    which writes none, is taken at its port's word.
    """
    if wanted.spec.dialect == "rldx":
        client.call("ping", timeout_s=timeout_s, lost=lost)
        if not announced:
            _log.warning(
                "%s: the server at %s cannot say which model it serves", wanted.name, client.endpoint
            )
        return {}
    answer = client.call("hello", timeout_s=timeout_s, lost=lost)
    identity, description = answer.get("identity"), answer.get("description")
    try:
        answers = Identity(**identity)  # type: ignore[arg-type]
    except TypeError:
        raise SidecarError(
            f"{wanted.name}: {client.endpoint} does not say who it is; update the server"
        ) from None
    if answers != wanted.identity:
        raise mismatch(wanted, client.endpoint, answers, "its hello")
    return description if isinstance(description, dict) else {}


def mismatch(wanted: Wanted, where: str, answers: Identity, who: str) -> IdentityMismatch:
    """Return the error that names both models."""
    return IdentityMismatch(
        f"{wanted.name}: asked for [{wanted.identity}], but {where} serves [{answers}] ({who}); stop that server, "
        "or use another port"
    )


def _check(given_up: Callable[[], bool]) -> None:
    if given_up():
        raise SidecarDown("closed")
