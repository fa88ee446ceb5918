"""Serves the page of a finished run, under the console's access control; without ROS, and nothing can be commanded."""

from __future__ import annotations

import logging
import sys
from dataclasses import replace
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse, Response
from nicegui import ui

from openral_console.access import Access
from openral_console.http_listener import listen, serve_on, url_of
from openral_console.listen_options import ListenOptions, read_passwords
from openral_console.page.web_application import new_application, serve_pages
from openral_console.run.finished_run import FinishedRun
from openral_console.run.run_page import FILM, RunPage
from openral_console.sessions import Sessions
from openral_core.process.announcements import console_line
from openral_core.process.operator_name import operator_name

_log = logging.getLogger(__name__)


def serve_run(run_dir: Path, options: ListenOptions) -> None:
    """Show a run until the process is told to end.

    Raises:
        OpenralError: the folder holds no run, a protection is missing, or the port is taken.
    """
    options.check()
    run = FinishedRun(run_dir)
    passwords = read_passwords(options.passwords) if options.passwords else {}
    listening = listen(options, options.port, "--port")
    options = replace(options, port=listening.getsockname()[1])
    sessions = Sessions.create()
    guarded = Access(_application(run), sessions, options, passwords, operator_name(), _note)
    try:
        sys.stdout.write(f"{console_line(url_of(options, sessions))}\n")
        sys.stdout.flush()
        serve_on(guarded, listening, options)
    finally:
        listening.close()


def _note(who: str, did: str) -> None:
    _log.info("%s: %s", who, did)


def _application(run: FinishedRun) -> FastAPI:
    app = new_application()

    @app.get("/picture/{number}.png")
    def picture(number: int) -> Response:
        path = run.picture(run.attempts[number]) if 0 <= number < len(run.attempts) else None
        return FileResponse(path, media_type="image/png") if path else Response(status_code=404)

    @app.get(FILM)
    def film() -> Response:
        return FileResponse(run.film, media_type="video/mp4") if run.film else Response(status_code=404)

    @ui.page("/", title=f"openral: {run.run_dir.name}")
    def page() -> None:
        RunPage(run)

    serve_pages(app, "openral")
    return app
