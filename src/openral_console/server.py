"""The console's process: sockets, the application behind its access control, and the process that serves the stop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from fastapi import FastAPI, Request, WebSocket
from fastapi.responses import FileResponse, PlainTextResponse, Response
from nicegui import ui
from starlette.background import BackgroundTask

from openral_console.access import OPERATOR, Access
from openral_console.audit_log import STOPS, ActionLog
from openral_console.http_listener import listen, serve_on, url_of
from openral_console.listen_options import ListenOptions, read_passwords
from openral_console.live.deployment import Controls, LiveDeployment, ManualControl
from openral_console.page.context import PageContext
from openral_console.page.layout import build_page
from openral_console.page.web_application import new_application, serve_pages
from openral_console.picture_socket import PictureSocket
from openral_console.sessions import Sessions
from openral_console.stop_process import StopProcess
from openral_console.teleop.space_mouse import SpaceMouse
from openral_console.teleop.space_mouse_device import SpaceMouseDevice
from openral_core.files.atomic import write_atomically
from openral_core.process.operator_name import operator_name
from openral_sidecar.paths import run_folder


class ConsoleServer:
    """Listens from the moment it is made; serves in `run`."""

    def __init__(
        self,
        deployment: LiveDeployment,
        controls: Controls,
        manual_control: ManualControl,
        options: ListenOptions,
        actions_file: Path | None,
        say: Callable[[str], object],
        namespace: str,
        open_space_mouse: Callable[[], SpaceMouseDevice] | None = None,
    ) -> None:
        """Bind, and prepare the application.

        Args:
            deployment: state that the pages show.
            controls: commands of operators.
            manual_control: teleoperation of the arm.
            options: address and protection.
            actions_file: for the operators' actions; None: a file beside that of the address.
            say: takes lines for the log.
            namespace: of the deployment.
            open_space_mouse: opens the SpaceMouse that may move the arm, too; None: there is none.

        Raises:
            InstallationError: a protection is missing, or a port is taken.
            OutputError: the file cannot be written.
        """
        options.check()
        passwords = read_passwords(options.passwords) if options.passwords else {}
        self._socket, self._stop_socket = listen(options, options.port, "--port"), None
        try:
            self._stop_socket = listen(options, options.stop_port, "--stop-port")
        finally:
            if self._stop_socket is None:
                self._socket.close()
        self.options = options = replace(
            options, port=self._socket.getsockname()[1], stop_port=self._stop_socket.getsockname()[1]
        )
        self._say, self._namespace = say, namespace
        self.sessions = Sessions.create()
        self.actions = ActionLog(actions_file or run_folder() / f"console-{options.port}.jsonl", say)
        self._controls = controls
        self._space_mouse = (
            SpaceMouse(open_space_mouse, self._stop_by_button, say) if open_space_mouse else None
        )
        context = PageContext(
            deployment,
            controls,
            manual_control,
            self.actions,
            self.sessions,
            options,
            namespace,
            self._space_mouse,
        )
        app = self._application(context)
        self._app = Access(app, self.sessions, options, passwords, operator_name(), self.actions)

    @property
    def url(self) -> str:
        """URL of the page, with the token if one is required."""
        return url_of(self.options, self.sessions)

    @property
    def url_file(self) -> Path:
        """File with the URL while the server runs, readable by this user alone."""
        return run_folder() / f"console-{self.options.port}.url"

    def run(self, is_told_to_end: Callable[[], bool]) -> None:
        """Serve until the process is stopped, or was before; see `serve_on`."""
        assert self._stop_socket is not None
        stopper = StopProcess(
            self._stop_socket, self.sessions, self.options, self.actions.path, self._say, self._namespace
        )
        try:
            write_atomically(self.url_file, self._url_line, private=True)
            serve_on(self._app, self._socket, self.options, is_told_to_end)
        finally:
            self._remove_url_file()
            if self._space_mouse is not None:
                self._space_mouse.close()
            stopper.close()
            self._socket.close()
            self._stop_socket.close()

    @property
    def _url_line(self) -> str:
        return f"{self.url}\n"

    def _remove_url_file(self) -> None:
        """Remove the file with the URL, unless it is that of another console, at the same port of another address."""
        with contextlib.suppress(OSError):
            if self.url_file.read_text(encoding="utf-8") == self._url_line:
                self.url_file.unlink()

    def _stop_by_button(self) -> str:
        """Latch the emergency stop for the button of the SpaceMouse, whoever pressed it."""
        fault = self._controls.stop()
        self.actions("the SpaceMouse", STOPS["/stop"], fault)
        return fault

    def _application(self, context: PageContext) -> FastAPI:
        app = new_application()
        deployment, title = context.deployment, context.namespace.strip("/")

        @app.websocket("/pictures")
        async def pictures(socket: WebSocket) -> None:
            await PictureSocket(deployment, socket).serve()

        @app.get("/mesh/{number}")
        def mesh(number: int) -> Response:
            meshes = deployment.robot.meshes if deployment.robot else ()
            if not 0 <= number < len(meshes):
                return Response(status_code=404)
            return FileResponse(meshes[number], media_type="model/stl")

        stops = dict(zip(STOPS, (context.controls.stop, context.controls.stop_all), strict=True))

        async def stop(request: Request) -> Response:
            path = request.url.path
            fault = await asyncio.to_thread(stops[path])
            # Afterwards and beside the loop: a disk that stalls under a recording keeps no stop waiting.
            noted = BackgroundTask(self.actions, request.scope[OPERATOR], STOPS[path], fault)
            return PlainTextResponse(fault or "stopped", 503 if fault else 200, background=noted)

        for path in stops:
            app.post(path)(stop)

        @ui.page("/", title=title)
        def page(request: Request) -> None:
            build_page(context, request.scope[OPERATOR])

        serve_pages(app, title)
        return app
