"""The server's side, which runs in the sidecar's own interpreter.

    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint")
    server_arguments(parser)
    args = parser.parse_args()
    policy = load(args.checkpoint)
    serve({"infer": policy.infer}, Identity(args.checkpoint), server_options(args))

Handlers run one at a time on the main thread, as CUDA, OpenGL and signal handlers need it. `ping` is answered while a
handler runs.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openral_core.errors import SidecarError
from openral_core.loopback import is_loopback
from openral_sidecar.errors import SidecarRefused
from openral_sidecar.identity import Identity
from openral_sidecar.server_announcement import (
    ServerIdentity,
    read_announcement,
    read_token,
    write_announcement,
)
from openral_sidecar.wires.server_socket import Request, RequestSocket, refusal, reply

Handler = Callable[[dict[str, Any]], dict[str, Any]]
_log = logging.getLogger("openral.sidecar")


@dataclass(frozen=True)
class ServerOptions:
    """Options of all servers; for `spec` to `log` see `ServerIdentity`."""

    host: str = "127.0.0.1"
    port: int = 0
    """TCP port; 0: any free one."""
    token: str = ""
    """Token that every request must carry; empty: none, which is allowed on loopback only."""
    token_file: str = ""
    spec: str = ""
    digest: str = ""
    shared: bool = True
    log: str = ""
    arguments: tuple[str, ...] = ()
    """Arguments of the server's family."""


def server_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of all servers to a parser; `server_options` reads them."""
    group = parser.add_argument_group("sidecar")
    group.add_argument("--host", default="127.0.0.1", help="address to listen on; off loopback needs a token")
    group.add_argument("--port", type=port_number, default=0, help="0: a free one, told in the identity file")
    group.add_argument("--token-file", default="", help="file whose first line every request must carry")
    group.add_argument("--spec", default="", help="name@digest of the spec, for the identity file")
    group.add_argument("--private", action="store_true", help="serves one client; others must not reuse it")
    group.add_argument("--log-file", default="", help="where the output goes, for the identity file")


def server_options(args: argparse.Namespace) -> ServerOptions:
    """Return the options from the arguments that `server_arguments` added.

    Raises:
        SidecarError: the token file cannot be read or is empty, or the address is off loopback and there is no token.
    """
    token = ""
    if args.token_file:
        try:
            token = read_token(Path(args.token_file))
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "no text in UTF-8"
            raise SidecarError(f"--token-file {args.token_file}: {why}; write a token into it") from error
        if not token:
            raise SidecarError(f"--token-file {args.token_file}: empty; write a token into it")
    if not token and not is_loopback(args.host):
        raise SidecarError(f"--host {args.host} is off loopback; give a --token-file, or listen on 127.0.0.1")
    spec, _, digest = args.spec.partition("@")
    standard = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    server_arguments(standard)
    return ServerOptions(
        host=args.host,
        port=args.port,
        token=token,
        token_file=args.token_file,
        spec=spec,
        digest=digest,
        shared=not args.private,
        log=args.log_file,
        arguments=tuple(standard.parse_known_args(sys.argv[1:])[1]),
    )


def port_number(text: str) -> int:
    """Return the TCP port, 0 to 65535, of an argument.

    Raises:
        ArgumentTypeError: the text is not a port; argparse shows the message.
    """
    if not (text.isascii() and text.isdigit() and int(text[:6]) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is no port; give 0 to 65535")
    return int(text)


@contextlib.contextmanager
def announced(identity: Identity, options: ServerOptions, port: int, socket: str = "") -> Iterator[None]:
    """Keep the identity file of a port while the block runs; it is also for servers that do not use `serve`."""
    path = write_announcement(
        ServerIdentity(
            identity,
            options.spec,
            options.digest,
            options.arguments,
            os.getpid(),
            options.host,
            port,
            options.shared,
            options.token_file,
            options.log,
            socket,
        )
    )
    try:
        yield
    finally:
        mine = read_announcement(port)
        if mine is not None and mine.pid == os.getpid():
            path.unlink(missing_ok=True)
            path.with_suffix(".sock").unlink(missing_ok=True)


def serve(
    handlers: Mapping[str, Handler],
    identity: Identity,
    options: ServerOptions,
    *,
    describe: Callable[[], dict[str, Any]] = dict,
) -> None:
    """Serve until `stop`, SIGTERM or SIGINT; a running handler is finished first.

    Three operations need no handler: `hello` (returns identity, description and operations), `ping` (answered even
    while a handler runs; `busy_s` is its running time [s], None: idle) and `stop` (only if there is a token).

    Args:
        handlers: operation -> function from the request's data to the reply's. It raises SidecarRefused for unusable
            input; any other exception is logged and becomes a refusal with the code `internal`.
        identity: of the served model.
        options: with the address and the token.
        describe: returns the description for `hello`; called once, before the first request.

    Raises:
        SystemExit: the port is taken, or the address does not exist; the message goes to standard error.
    """
    hello = {"identity": vars(identity), "description": describe(), "ops": sorted(handlers)}
    try:
        requests = RequestSocket(options.host, options.port, options.token, hello)
    except SidecarError as error:
        raise SystemExit(f"error: {error}") from error
    with (
        contextlib.closing(requests),
        requests.stop.on_signals(),
        announced(
            identity, options, requests.port, requests.socket
        ),  # after `on_signals`, as its readers may send a signal
    ):
        _log.info("%s answers at %s:%d", identity, options.host, requests.port)
        while (request := requests.next()) is not None:
            with requests.busy():
                frame = _answer(request, handlers)
            requests.send(request, frame)


def _answer(request: Request, handlers: Mapping[str, Handler]) -> bytes:
    try:
        handler = handlers.get(request.op)
        if handler is None:
            known = ", ".join(sorted([*handlers, "hello", "ping", "stop"]))
            raise SidecarRefused("unknown_op", f"no {request.op[:40]!r}; known are {known}")
        data = handler(request.data)
        if not isinstance(data, dict):
            raise TypeError(f"the handler of {request.op} returned {type(data).__name__}, not a dict")
        return reply(request.call, data)
    except SidecarRefused as why:
        return refusal(request.call, why)
    except Exception as error:  # noqa: BLE001  no exception of a model may end the server
        _log.exception("%s failed", request.op)
        return refusal(request.call, SidecarRefused("internal", f"{type(error).__name__}: {error}"))
