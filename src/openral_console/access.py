"""Access control of the console: an ASGI application that every request and websocket passes first.

A page of another site cannot use an operator's cookie: websockets and requests other than GET must come from the
console's own origin, and on loopback the Host header must be a name of loopback, which excludes foreign names that
resolve to this machine (DNS rebinding).
"""

from __future__ import annotations

import asyncio
import html
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from openral_console.listen_options import ListenOptions, is_password
from openral_console.request_body import read_body
from openral_console.sessions import LIFETIME_S, Sessions
from openral_console.sign_in_queue import SignInQueue
from openral_core.loopback import host_of, is_loopback

REFUSED_DELAY_S = 1.0
"""[s] by which a wrong password delays further tries from the same place; see `sign_in_queue`."""
TOO_MANY = "Others try this name from your address, or too many try at once; wait some seconds."
MAX_FORM = 4096
"""[bytes] greatest size of the form with name and password."""
EXPIRED = 1008
"""Code of the end of a websocket whose cookie has expired: policy violation (RFC 6455)."""
OPERATOR = "openral.operator"
"""Key of the ASGI scope that holds the operator's name."""
NO_TOKEN = "This address lacks the token. Open the one that `openral console` printed.\n"
WRONG_TOKEN = (
    "The token of this address is another console's. Open the address that `openral console` printed now.\n"
)
_POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; connect-src 'self' {stop}; "
    "frame-ancestors 'none'; base-uri 'self'; form-action 'self'"
)
"""Content security policy: pages load nothing from elsewhere, and call only their own server and the stop's."""

LOGIN_PAGE = Path(__file__).parent / "assets" / "login.html"
"""Page for signing in, without a script; a comment marks where a message is inserted."""


class Access:
    """Admits operators, and passes their names to the application in the scope."""

    def __init__(
        self,
        app: ASGIApp,
        sessions: Sessions,
        options: ListenOptions,
        passwords: dict[str, str],
        local_name: str,
        log: Callable[[str, str], object],
    ) -> None:
        """Wrap an application.

        Args:
            app: gets the admitted connections.
            sessions: signs the cookies.
            options: where it listens.
            passwords: of the operators; empty: the token is asked for.
            local_name: name of an operator who is admitted by the token.
            log: records signing in.
        """
        self.app = app  # NiceGUI follows attributes of this name from the server to its own application
        self._sessions, self._options, self._passwords = sessions, options, passwords
        self._local_name, self._log = local_name, log
        self._sign_ins = SignInQueue()
        stop = f"{options.scheme}://*:{options.stop_port}"
        self._headers = [
            (b"content-security-policy", _POLICY.format(stop=stop).encode()),
            (b"x-frame-options", b"DENY"),
            (b"referrer-policy", b"no-referrer"),
            (b"x-content-type-options", b"nosniff"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        fault = self._fault_of(scope, headers)
        # As browsers read them: other servers of this host, on other ports, may have set any.
        cookie = HTTPConnection(scope).cookies.get(self._cookie_name, "")
        name = None if fault or self._has_token(scope) else self._sessions.name_in(cookie)
        if name is not None and scope["type"] == "http":
            # The pages know GET alone. The server sends no body as an answer to HEAD, whatever the application says.
            method = "GET" if scope["method"] == "HEAD" else scope["method"]
            inside = {**scope, "method": method, OPERATOR: name}
            await self.app(inside, receive, _with_headers(send, self._headers))
        elif name is not None:
            until_s = time.monotonic() + self._sessions.left_s(cookie)
            await self.app({**scope, OPERATOR: name}, _received_until(until_s, receive), send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": fault or "no session"})
        else:
            await (await self._admit(scope, receive, fault))(scope, receive, send)

    @property
    def _cookie_name(self) -> str:
        return f"openral_console_{self._options.port}"  # cookies know no ports

    def _fault_of(self, scope: Scope, headers: Headers) -> str:
        """Return why a request cannot be from the console's own page; empty: it can."""
        host = headers.get("host", "")
        if self._options.loopback and not is_loopback(host_of(f"//{host}")):
            return f"the Host header says {host!r}, which is no name of this machine"
        if scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD"):
            origin = headers.get("origin", "")
            if origin != f"{self._options.scheme}://{host}":
                return f"the request comes from {origin or 'no page'!r}, not from the console"
        return ""

    async def _admit(self, scope: Scope, receive: Receive, fault: str) -> Response:
        """Answer a request without a valid cookie."""
        if fault:
            return PlainTextResponse(f"refused: {fault}\n", status_code=403)
        if self._passwords:
            return await self._login(Request(scope, receive))
        if self._has_token(scope):
            return self._welcome(self._local_name, scope)
        return PlainTextResponse(WRONG_TOKEN if _token_of(scope) else NO_TOKEN, status_code=401)

    def _has_token(self, scope: Scope) -> bool:
        """Return whether an address has the token, also one that is opened again by an operator who is signed in."""
        return scope["type"] == "http" and not self._passwords and self._sessions.admits(_token_of(scope))

    async def _login(self, request: Request) -> Response:
        if request.method != "POST":
            return _login_page("", 401)
        body = await read_body(request, MAX_FORM)
        if body is None:
            return PlainTextResponse("refused: too long\n", status_code=413)
        form = parse_qs(body.decode("utf-8", "replace"))
        name, password = (form.get(field, [""])[0] for field in ("name", "password"))
        async with self._sign_ins.turn(_host(request.scope), name if name in self._passwords else "") as mine:
            if not mine:
                return _login_page(TOO_MANY, 429)
            if is_password(self._passwords, name, password):
                return self._welcome(name, request.scope)
            await asyncio.sleep(REFUSED_DELAY_S)
        self._log(name[:40] or "nobody", f"was refused at the door, from {_client(request.scope)}")
        return _login_page("Name or password is wrong.", 401)

    def _welcome(self, name: str, scope: Scope) -> Response:
        """Set the cookie, and redirect to the address without the token, so that the history does not keep it."""
        self._log(name, f"opened the console, from {_client(scope)}")
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(
            self._cookie_name,
            self._sessions.sign(name),
            max_age=int(LIFETIME_S),
            httponly=True,
            samesite="lax",
            secure=self._options.scheme == "https",
        )
        return response


def _login_page(words: str, code: int) -> Response:
    text = LOGIN_PAGE.read_text(encoding="utf-8").replace("<!-- words -->", html.escape(words))
    return HTMLResponse(text, status_code=code)


def _token_of(scope: Scope) -> str:
    query: bytes = scope["query_string"]
    return parse_qs(query.decode("latin-1")).get("token", [""])[0]


def _host(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _client(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else "a local socket"


def _received_until(until_s: float, receive: Receive) -> Receive:
    """Return a `receive` of a websocket that says from a time [s] on, monotonic, that the other side has gone.

    So a page does not outlive its cookie: the application ends the connection, and a new one needs another sign-in.
    """

    async def receiving() -> Message:
        try:
            return await asyncio.wait_for(receive(), max(0.0, until_s - time.monotonic()))
        except asyncio.TimeoutError:
            return {"type": "websocket.disconnect", "code": EXPIRED}

    return receiving


def _with_headers(send: Send, more: list[tuple[bytes, bytes]]) -> Send:
    """Return a `send` that adds headers to the start of a response."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *more]}
        await send(message)

    return sending
