"""Listening sockets and the HTTP server, for the console and for the page of a finished run."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn
from starlette.types import ASGIApp

from openral_console.listen_options import ListenOptions
from openral_console.sessions import Sessions
from openral_core.errors import InstallationError
from openral_core.http.slow_clients import BoundedListener, TimedHttpProtocol

MAX_PORT = 65535
ENDS = (signal.SIGINT, signal.SIGTERM)
"""Signals that end a server."""
_log = logging.getLogger(__name__)


class _Server(uvicorn.Server):
    """A server that returns at a signal, so that the caller can close what it opened."""

    def __init__(self, config: uvicorn.Config, is_told_to_end: Callable[[], bool]) -> None:
        super().__init__(config)
        self._is_told_to_end = is_told_to_end

    async def main_loop(self) -> None:
        """Serve, unless a signal came before there was a handler here."""
        self.should_exit = self.should_exit or self._is_told_to_end()
        await super().main_loop()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ask for the end at SIGINT and SIGTERM."""
        loop = asyncio.get_running_loop()
        for number in ENDS:
            loop.add_signal_handler(number, self._end)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
        yield

    def _end(self) -> None:
        self.should_exit = True


def url_of(options: ListenOptions, sessions: Sessions) -> str:
    """Return the URL of the page, with the token if one is required."""
    # All addresses of this machine are none that could be opened elsewhere; its name may be one.
    host = socket.gethostname() if options.address in ("0.0.0.0", "::") else options.address
    host = f"[{host}]" if ":" in host else host
    query = "" if options.passwords else f"?token={sessions.token}"
    return f"{options.scheme}://{host}:{options.port}/{query}"


def server_config(app: ASGIApp, certificate: str | None, key: str | None) -> uvicorn.Config:
    """Return the configuration of a server, with the paths of its certificate and key; None: it serves plain HTTP."""
    return uvicorn.Config(
        app,
        http=TimedHttpProtocol,
        log_level="warning",
        access_log=False,
        proxy_headers=False,  # whoever guesses passwords would say of each guess that it is another machine's
        ws_per_message_deflate=False,  # pictures are small already, and what pages are told is short
        ssl_certfile=certificate,
        ssl_keyfile=key,
        timeout_graceful_shutdown=1,
    )


def serve_on(
    app: ASGIApp,
    listening: socket.socket,
    options: ListenOptions,
    is_told_to_end: Callable[[], bool] = lambda: False,
) -> None:
    """Serve an application until the process is told to end.

    Args:
        app: the application.
        listening: socket that listens.
        options: of `listening`.
        is_told_to_end: whether a signal came before this has handlers of its own. Python drops the KeyboardInterrupt
            of a signal that comes while it calls back from C, as where a weak reference dies.
    """
    if warning := options.warning():
        _log.warning("%s", warning)
    config = server_config(
        app,
        str(options.certificate) if options.certificate else None,
        str(options.key) if options.key else None,
    )
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # until the loop has handlers; half of one cannot be ended
    try:
        asyncio.run(_Server(config, is_told_to_end).serve(sockets=[listening]))
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)


def listen(options: ListenOptions, port: int, option: str) -> socket.socket:
    """Return a socket that listens at the address of the options.

    Args:
        options: give the address.
        port: port; 0: a free one.
        option: option of the command line that sets the port, for the error.

    Raises:
        InstallationError: the port is taken, or is none, or the address is not this machine's.
    """
    if not 0 <= port <= MAX_PORT:
        raise InstallationError(
            f"{option} {port} on {options.address}: a port is 0 to {MAX_PORT}; use another, or 0 for a free one"
        )
    try:
        return _bind(options.address, port)
    except OSError as error:
        if options.or_free and port and error.errno == errno.EADDRINUSE:
            return listen(options, 0, option)
        why = error.strerror or error
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            raise InstallationError(
                f"{option} {port} on {options.address}: {why}; use another, or 0 for a free one"
            ) from error
        raise InstallationError(f"--address {options.address}: {why}; name one of this machine") from error
    except TypeError as error:  # of a name that no resolver takes
        raise InstallationError(f"--address {options.address}: {error}; name one of this machine") from error


def _bind(address: str, port: int) -> socket.socket:
    listening = BoundedListener(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address, port))
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening
