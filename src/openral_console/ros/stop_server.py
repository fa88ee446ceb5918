"""The process behind the Stop button: only a node and a socket, so that nothing else can block it.

    python -m openral_console.ros.stop_server < settings.json

It is started by the console, reads the key with which the console signs names from its standard input, and ends
when the console does. The page's script calls it beside the console itself, so that a stop arrives when either is well.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import rclpy
import uvicorn
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from std_srvs.srv import Trigger

from openral_console.audit_log import STOPS, ActionLog
from openral_console.http_listener import server_config
from openral_console.request_body import read_body
from openral_console.ros.fleet_stop import StopAll, see_bridges_only
from openral_console.ros.service_call import ServiceCall
from openral_console.ros.spinning import spinning
from openral_console.sessions import STOP, Sessions
from openral_core.graph.namespaces import DEFAULT_NAMESPACE, ros_arguments
from openral_core.guarded_callbacks import GuardedCallbacks
from openral_core.http.slow_clients import BoundedListener
from openral_core.loopback import host_of

MAX_BODY = 1024
"""[bytes] greatest size of the signed name in a call."""


class StopNode(GuardedCallbacks, Node):
    """Calls the emergency stop of its deployment, or of all in the domain."""

    def __init__(self) -> None:
        super().__init__(f"console_stop_{os.getpid()}", namespace=DEFAULT_NAMESPACE)
        calls: tuple[Callable[[], str], ...] = (ServiceCall(self, Trigger, "estop"), StopAll(self))
        self.stops = dict(zip(STOPS, calls, strict=True))
        """By the paths that the page calls."""


def application(
    stops: Mapping[str, Callable[[], str]], sessions: Sessions, log: Callable[[str, str, str], None]
) -> Starlette:
    """Return the application, with an address for each stop.

    Args:
        stops: functions by path (keys of `STOPS`); each returns why the stop failed, or an empty text.
        sessions: checks the signed names of operators who may stop.
        log: records the actions, and why they failed.
    """

    async def on_stop(request: Request) -> PlainTextResponse:
        path, body = request.url.path, await read_body(request, MAX_BODY)
        if body is None:
            return PlainTextResponse("refused: too long", 413)
        name = sessions.name_in(body.decode("ascii", "replace"), STOP)
        origin = request.headers.get("origin", "")
        allowed = {"Access-Control-Allow-Origin": origin} if _same_host(request) else {}
        if name is None or not allowed:
            return PlainTextResponse("refused: this page has no session here", 403, headers=allowed)
        fault = await asyncio.to_thread(stops[path])
        # Afterwards and beside the loop: a disk that stalls under a recording keeps no stop waiting.
        noted = BackgroundTask(log, name, f"{STOPS[path]}, heard by its own process", fault)
        return PlainTextResponse(fault or "stopped", 503 if fault else 200, allowed, background=noted)

    return Starlette(routes=[Route(path, on_stop, methods=["POST"]) for path in stops])


def _same_host(request: Request) -> bool:
    """Return whether the calling page is from the same host; its port differs."""
    host = host_of(f"//{request.headers.get('host', '')}")
    return bool(host) and host_of(request.headers.get("origin", "")) == host


def main() -> int:
    """Serve until standard input is closed, which the kernel does when the console is gone."""
    line = sys.stdin.readline()
    if not line:
        return 0  # the console ended before it had sent the settings
    settings: dict[str, Any] = json.loads(line)
    sessions = Sessions(bytes.fromhex(settings["key"]), "")
    see_bridges_only(rclpy.get_default_context())
    rclpy.init(args=ros_arguments(settings["namespace"]), signal_handler_options=SignalHandlerOptions.NO)
    node = StopNode()
    with spinning(node):
        # The console has checked it; on a disk that is full meanwhile, a stop counts more than its line.
        log = ActionLog(Path(settings["actions"]), node.get_logger().info, is_checked=True)
        app = application(node.stops, sessions, log)
        server = uvicorn.Server(server_config(app, settings["certificate"], settings["private_key"]))

        def watch_parent() -> None:
            sys.stdin.read()
            server.should_exit = True

        threading.Thread(target=watch_parent, name="parent", daemon=True).start()
        server.run(sockets=[BoundedListener(fileno=int(settings["socket"]))])
    return 0


if __name__ == "__main__":
    sys.exit(main())
