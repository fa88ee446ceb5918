"""The MCP server over HTTP: on loopback alone, for whoever has the token, for no web page.

The token is made at every start and lies in a file that only this user can read. Origin and Host of a request are
checked by the SDK, so that a page in a browser cannot reach the server through a name that leads to this machine.
"""

from __future__ import annotations

import hmac
import secrets
import socket
from contextlib import suppress
from pathlib import Path

import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from openral_core.errors import InstallationError, UsageError
from openral_core.files.atomic import write_atomically
from openral_core.files.output_folder import check_folder, make_private
from openral_core.http.slow_clients import TimedHttpProtocol
from openral_core.loopback import is_loopback
from openral_sidecar.paths import run_folder

MAX_BODY = 256 * 1024
"""[bytes] of one request."""
PATH = "/mcp"


class TokenCheck:
    """Lets requests through that carry the token; others get 401 and reach nothing."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._expected = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request (ASGI)."""
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._expected):
                refusal = PlainTextResponse(
                    "send the token as Authorization: Bearer <token>\n",
                    status_code=401,
                    headers={"WWW-Authenticate": "Bearer"},
                )
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


class HttpServer:
    """Listens from the moment it is made. Used as a context manager, it takes its token's file away at the end."""

    def __init__(self, address: str, port: int, token_file: Path | None = None) -> None:
        """Bind, and write the token.

        Args:
            address: of this machine's loopback.
            port: 0: a free one.
            token_file: where the token is written (0600); None: a file of its own in the user's run folder.

        Raises:
            UsageError: the address is another one.
            InstallationError: the port is taken, or the token's file is a folder.
            OutputError: the token's file cannot be written.
        """
        if not is_loopback(address):
            raise UsageError(
                f"--address {address}: only loopback is served, as 127.0.0.1; for other machines put a proxy with TLS"
                " before it, or use ssh -L"
            )
        if token_file is not None and token_file.is_dir():
            raise InstallationError(f"--token-file {token_file}: is a folder; name a file in it")
        folder = check_folder(token_file.parent if token_file else run_folder(), "--token-file")
        make_private(folder)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((address, port))
            self._socket.listen()  # who reads the address connects at once, and waits for the server
        except OSError as error:
            self._socket.close()
            raise InstallationError(
                f"--port {port}: {error.strerror or error}; use another, or 0 for a free one"
            ) from error
        self._address, self.port = address, int(self._socket.getsockname()[1])
        self.token_file = token_file or folder / f"mcp-{self.port}.token"
        self._token = secrets.token_urlsafe(32)
        write_atomically(self.token_file, self._token, private=True)

    def __enter__(self) -> HttpServer:
        return self

    def __exit__(self, *error: object) -> None:
        self._socket.close()
        with suppress(FileNotFoundError):
            if self.token_file.read_bytes() == self._token.encode():  # else it is that of a newer server
                self.token_file.unlink()

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"http://{self._host}:{self.port}{PATH}"

    async def serve(self, mcp: Server[object]) -> None:
        """Serve until the process is interrupted."""
        hosts = sorted({"127.0.0.1", "localhost", "[::1]", self._host})
        checked = TransportSecuritySettings(
            allowed_hosts=[f"{host}:*" for host in hosts],
            allowed_origins=[f"http://{host}:*" for host in hosts],
        )
        app = mcp.streamable_http_app(
            streamable_http_path=PATH, transport_security=checked, max_request_body_size=MAX_BODY
        )
        config = uvicorn.Config(
            TokenCheck(app, self._token), http=TimedHttpProtocol, log_level="warning", access_log=False
        )
        await uvicorn.Server(config).serve(sockets=[self._socket])

    @property
    def _host(self) -> str:
        """The address, as URLs and the header Host name it."""
        return f"[{self._address}]" if ":" in self._address else self._address
