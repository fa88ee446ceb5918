"""Finds or starts the server of a request, and checks its identity."""

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
from openral_core.loopback import is_loopback
from openral_sidecar.client import SidecarClient
from openral_sidecar.environment.file_lock import exclusive
from openral_sidecar.environment.spec import SidecarSpec
from openral_sidecar.errors import IdentityMismatch, SidecarDown, SidecarTimeout
from openral_sidecar.identity import Identity
from openral_sidecar.paths import run_folder
from openral_sidecar.process import ServerProcess
from openral_sidecar.server_announcement import ServerIdentity, announcements, read_announcement
from openral_sidecar.settings import SidecarSettings

HELLO_S = 10.0
"""[s] timeout of a running server's `hello`."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ServerRequest:
    """A request for a server, with all that is needed to start it."""

    spec: SidecarSpec
    python: Path
    arguments: tuple[str, ...]
    identity: Identity
    settings: SidecarSettings

    @property
    def name(self) -> str:
        """Name of the server in messages."""
        return f"sidecar {self.spec.name} ({self.identity.model})"


@dataclass(frozen=True)
class RunningServer:
    """A running server whose identity is that of the request."""

    client: SidecarClient
    token: str
    description: dict[str, Any]
    exit_reason: Callable[[], str | None]
    """Returns how the server ended; None: it runs, as far as this machine can tell."""
    process: ServerProcess | None
    """Process of the server; None: this client did not start it."""

    def end(self, *, at_once: bool = False) -> None:
        """Close the connection, and end the server if this client started it."""
        self.client.close()
        if self.process is not None:
            self.process.end(at_once=at_once)


def connect(request: ServerRequest, given_up: Callable[[], bool]) -> RunningServer:
    """Return a running server that fits, or start one and wait until its model is loaded.

    Args:
        request: for the server.
        given_up: called while waiting; true ends the wait.

    Raises:
        IdentityMismatch: another model is served at the port.
        SidecarDown: the server ended while it loaded, or there is none and none may be started.
        SidecarTimeout: the server was not ready in time.
        SidecarError: another program or client uses the port, or the server refused.
    """
    settings, spec = request.settings, request.spec
    if not settings.shared:
        return _start(request, given_up)
    asked = repr((spec.digest, settings.host, settings.port or (request.identity, request.arguments)))
    lock = run_folder() / f".{spec.name}-{hashlib.sha256(asked.encode()).hexdigest()[:16]}.lock"
    with exclusive(lock, settings.boot_timeout_s, lambda: _check(given_up)):
        found = _at_port(request) if settings.port else _anywhere(request)
        return found or _start(request, given_up)


def _anywhere(request: ServerRequest) -> RunningServer | None:
    """Return a running server on this machine with the identity, spec and arguments of the request; None: none."""
    ours = (request.identity, request.spec.name, request.spec.digest, request.arguments, True)
    for other in announcements():
        if (other.identity, other.spec, other.digest, other.arguments, other.shared) == ours:
            try:
                return _use(request, other)
            except SidecarError as error:
                _log.warning(
                    "%s: %s is announced but cannot be used: %s", request.name, other.endpoint, error
                )
    return None


def _at_port(request: ServerRequest) -> RunningServer | None:
    """Return the server at the port of the settings; None: nothing listens there."""
    settings = request.settings
    local = is_loopback(settings.host)
    other = read_announcement(settings.port) if local else None
    where = f"{settings.host}:{settings.port}"
    if other is not None:
        if other.spec not in ("", request.spec.name) or other.identity != request.identity:
            raise mismatch(request, where, other.identity, f"pid {other.pid}")
        if not other.shared:
            raise SidecarError(
                f"{request.name}: the server at {where} belongs to another client; use another port"
            )
        return _use(request, other)
    try:
        socket.create_connection((settings.host, settings.port), timeout=HELLO_S).close()
    except (OSError, UnicodeError) as error:  # UnicodeError: no machine can be called so
        if local:
            return None
        raise SidecarDown(
            f"{request.name}: {where}: {error}; start it there, or fix host and port"
        ) from error
    return _use(request, None)


def _use(request: ServerRequest, other: ServerIdentity | None) -> RunningServer:
    """Connect to a running server; `other` is its identity file's content, None: it has none."""
    settings = request.settings
    endpoint = other.endpoint if other else f"tcp://{settings.host}:{settings.port}"
    token = settings.token or (other.token() if other else "")
    client = SidecarClient(endpoint, token=token, dialect=request.spec.dialect)

    def exit_reason() -> str | None:
        return None if other is None or other.alive else f"pid {other.pid} ended"

    try:
        description = _hello(request, client, HELLO_S, exit_reason, announced=other is not None)
    except SidecarTimeout as error:
        client.close()
        raise SidecarError(
            f"{request.name}: whatever is at {endpoint} does not answer; use another port"
        ) from error
    except BaseException:
        client.close()
        raise
    return RunningServer(client, token, description, exit_reason, None)


def _start(request: ServerRequest, given_up: Callable[[], bool]) -> RunningServer:
    settings = request.settings
    if not settings.auto_spawn or not is_loopback(settings.host):
        raise SidecarDown(
            f"{request.name}: none runs at {settings.host}:{settings.port or 'any port'}, "
            f"and none may be started here; start one with `openral sidecar start {request.spec.name}`"
        )
    until = time.monotonic() + settings.boot_timeout_s
    process = ServerProcess(
        request.spec,
        request.python,
        request.arguments,
        host=settings.host,
        port=settings.port,
        shared=settings.shared,
    )
    client = None
    try:
        announced = process.wait_ready(request.name, settings.boot_timeout_s, lambda: _check(given_up))
        client = SidecarClient(announced.endpoint, token=announced.token(), dialect=request.spec.dialect)
        lost = process.exit_reason
        left = until - time.monotonic()
        description = _hello(
            request, client, left, lambda: "closed" if given_up() else lost(), announced=True
        )
    except BaseException:
        if client is not None:
            client.close()
        process.end(at_once=True)
        raise
    return RunningServer(client, announced.token(), description, lost, process)


def _hello(
    request: ServerRequest,
    client: SidecarClient,
    timeout_s: float,
    lost: Callable[[], str | None],
    *,
    announced: bool,
) -> dict[str, Any]:
    """Check that the server's identity is that of the request, and return its description.

    The rldx dialect has no operation for the identity. Its servers are identified by their identity file only, and
    upstream's own server, which writes none, is accepted with a warning.
    """
    if request.spec.dialect == "rldx":
        client.call("ping", timeout_s=timeout_s, lost=lost)
        if not announced:
            _log.warning(
                "%s: the server at %s cannot say which model it serves", request.name, client.endpoint
            )
        return {}
    answer = client.call("hello", timeout_s=timeout_s, lost=lost)
    identity, description = answer.get("identity"), answer.get("description")
    try:
        answers = Identity(**identity)  # type: ignore[arg-type]
    except TypeError:
        raise SidecarError(
            f"{request.name}: {client.endpoint} does not say who it is; update the server"
        ) from None
    if answers != request.identity:
        raise mismatch(request, client.endpoint, answers, "its hello")
    return description if isinstance(description, dict) else {}


def mismatch(request: ServerRequest, where: str, answers: Identity, who: str) -> IdentityMismatch:
    """Return the error that names both models."""
    return IdentityMismatch(
        f"{request.name}: asked for [{request.identity}], but {where} serves [{answers}] ({who}); stop that server, "
        "or use another port"
    )


def _check(given_up: Callable[[], bool]) -> None:
    if given_up():
        raise SidecarDown("closed")
