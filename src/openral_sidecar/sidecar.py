"""A sidecar as the families use it: opened, called, closed; watched and restarted in between."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from openral_core.errors import SidecarError
from openral_sidecar.connect import ServerRequest
from openral_sidecar.environment.build import ensure_environment
from openral_sidecar.environment.spec import SidecarSpec
from openral_sidecar.identity import Identity
from openral_sidecar.settings import SidecarSettings
from openral_sidecar.supervisor import Supervisor

__all__ = ["Identity", "Sidecar", "SidecarSettings"]


class Sidecar:
    """A server that does what one checkpoint does. Made by `open`; threads may share it; a context manager."""

    def __init__(self, request: ServerRequest) -> None:
        self._request = request
        self._supervisor = Supervisor(request)

    @classmethod
    def open(
        cls,
        spec: SidecarSpec,
        arguments: Sequence[str],
        identity: Identity,
        settings: SidecarSettings | None = None,
        *,
        progress: Callable[[str], None] | None = None,
    ) -> Sidecar:
        """Build the environment if need be, find or start the server, and wait until its model is loaded.

        Args:
            spec: what kind of sidecar.
            arguments: the family's own arguments of the server; with `identity` they say which server fits.
            identity: which model it must be.
            settings: where, and how patiently; None: the defaults.
            progress: told one line a step while the environment is built.

        Raises:
            IdentityMismatch: another model answers at the port.
            SidecarDown: the server ended while it loaded, or there is none and none may be started.
            SidecarTimeout: it was not ready in time.
            SidecarError: the environment could not be built, or the port is somebody else's.
        """
        settings = settings or SidecarSettings()
        spec = spec.with_source(settings.source)
        python = settings.python or ensure_environment(spec, progress=progress)
        sidecar = cls(ServerRequest(spec, python, tuple(arguments), identity, settings))
        try:
            sidecar._begin()
        except BaseException:
            sidecar.close()
            raise
        return sidecar

    def call(
        self, op: str, data: Mapping[str, Any] | None = None, *, timeout_s: float | None = None
    ) -> dict[str, Any]:
        """Ask the server and wait for its answer.

        Args:
            op: what to do.
            data: the input.
            timeout_s: deadline in seconds; None: the settings' `call_timeout_s`.

        Raises:
            SidecarTimeout: the deadline passed. If a ping then finds the server silent, it is restarted.
            SidecarDown: the server ended, is being restarted, or is at fault for good.
            SidecarRefused: the server refused.
            WireError: the input has no form on the wire, or the answer is not one.
        """
        limit = self._request.settings.call_timeout_s if timeout_s is None else timeout_s
        with self._supervisor.calling() as server:
            return server.client.call(op, data, timeout_s=limit, lost=lambda: self._supervisor.lost(server))

    @property
    def description(self) -> dict[str, Any]:
        """What the server said of itself when it was ready."""
        return self._supervisor.description

    @property
    def fault(self) -> str | None:
        """Why calls fail for good, after the last restart; None: they do not."""
        return self._supervisor.fault

    @property
    def down(self) -> str | None:
        """Why calls fail just now; None: they do not."""
        return None if self._supervisor.server is not None else self.fault or self._supervisor.down

    @property
    def pid(self) -> int | None:
        """The process of the server, where we started it."""
        server = self._supervisor.server
        return server.process.pid if server is not None and server.process is not None else None

    def close(self) -> None:
        """End the server and what it started; a server that we found running is left as it was."""
        _open.discard(self)
        if self._supervisor.ident is not None:
            self._supervisor.close()

    def __enter__(self) -> Sidecar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _begin(self) -> None:
        _open.add(self)
        self._supervisor.start()
        self._supervisor.settled.wait()
        refusal = self._supervisor.refusal
        if isinstance(refusal, SidecarError):
            raise refusal
        if refusal is not None:
            raise SidecarError(f"{self._request.name}: {refusal}; fix that, then try again") from refusal


_open: weakref.WeakSet[Sidecar] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """End servers that nobody closed, politely, before this process ends and the guards do it."""
    for sidecar in list(_open):
        sidecar.close()
