"""Parts that all pages share: the files that they load, their style, and the application that serves them."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from nicegui import ui

ASSETS = Path(__file__).parents[1] / "assets"
RECONNECT_S = 10.0
"""[s] for which a page that lost its connection is kept."""


def new_application() -> FastAPI:
    """Return an application with the files of the pages, and without FastAPI's own, which load from elsewhere."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.mount("/assets", StaticFiles(directory=ASSETS))
    return app


def serve_pages(app: FastAPI, title: str) -> None:
    """Let an application serve the pages that were made with `ui.page`; to be called last.

    Args:
        app: of `new_application`.
        title: title of the pages that have none.
    """
    ui.run_with(
        app,
        title=title,
        favicon=ASSETS / "icon.svg",
        reconnect_timeout=RECONNECT_S,
        show_welcome_message=False,
    )


def style_page() -> None:
    """Add the common style to the page that is being built."""
    ui.add_head_html('<link rel="stylesheet" href="/assets/console.css">')
    ui.colors(primary="#1d5d8c", negative="#c4281c")
