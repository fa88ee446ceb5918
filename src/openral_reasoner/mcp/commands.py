"""The verb `openral mcp`; light to import, rclpy and the SDK come in when it runs."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from openral_core.cli import numbers
from openral_core.cli.namespace_option import DEFAULT_NAMESPACE, NamespaceOption
from openral_core.errors import InstallationError, UsageError

LOOPBACK, PORT = "127.0.0.1", 8765
"""Where HTTP is served unless another place is given."""


class Approve(str, Enum):
    """Which motions the operator is asked about."""

    EACH = "each"
    NONE = "none"


def mcp(
    http: Annotated[bool, typer.Option("--http", help="Serve HTTP on loopback, not standard input.")] = False,
    approve: Annotated[
        Approve, typer.Option(help="each: the operator says yes to each motion, by `openral prompt yes`.")
    ] = Approve.EACH,
    address: Annotated[
        str | None, typer.Option(help="With --http: an address of loopback; default: 127.0.0.1.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="With --http; 0: a free one; default: 8765.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="With --http: where the token is written, for this user alone.")
    ] = None,
    patience: Annotated[float, numbers.seconds("Seconds to wait for a reasoner and its first skill.")] = 10.0,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Offer the tools of the running reasoner to a client of the Model Context Protocol, under the reasoner's gates."""
    import asyncio
    import signal
    from contextlib import ExitStack

    given = {"--address": address, "--port": port, "--token-file": token_file}
    without = [name for name, value in given.items() if value is not None]
    if without and not http:
        raise UsageError(f"{without[0]} needs --http; without it standard input and output are served")
    try:
        from openral_reasoner.mcp.http import HttpServer
        from openral_reasoner.mcp.server import ToolsServer
    except ImportError as error:
        raise InstallationError(f"{error.name} is not installed: pip install 'openral[mcp]'") from error
    from openral_reasoner.ros.tool_client import ToolClient

    async def serve(listening: HttpServer | None) -> None:
        client = ToolClient(
            approve_each=approve is Approve.EACH, patience_s=patience, say=_say, namespace=namespace
        )
        server = ToolsServer(client)
        if listening is None:
            await server.serve_stdio(client)
            return
        async with client:
            _say(f"{listening.url}, token in {listening.token_file}")
            await listening.serve(server.mcp)

    ends = {signal.SIGINT, signal.SIGTERM}
    with ExitStack() as opened:
        listening = None
        try:
            if http:
                signal.signal(
                    signal.SIGTERM, signal.default_int_handler
                )  # so that the token's file is deleted then, too
                place = LOOPBACK if address is None else address, PORT if port is None else port
                signal.pthread_sigmask(signal.SIG_BLOCK, ends)  # until somebody deletes the file
                try:
                    listening = opened.enter_context(HttpServer(*place, token_file))
                finally:
                    signal.pthread_sigmask(signal.SIG_UNBLOCK, ends)
            asyncio.run(serve(listening))
        except KeyboardInterrupt:
            _say("interrupted")


def _say(words: str) -> None:
    """Tell the user something; standard output belongs to the protocol."""
    typer.echo(f"openral mcp: {words}", file=sys.stderr)
