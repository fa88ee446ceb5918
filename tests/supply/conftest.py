"""The tools of the repository, importable, and a package index on loopback."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from wheels_made_here import make_wheel

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools" / "pages")]

WRITTEN_BY = ("PIP_", "UV_", "HTTP_", "HTTPS_", "ALL_", "NO_", "http_", "https_", "all_", "no_", "XDG_")
"""Variables that would tell pip and uv of this machine's own indexes, folders and proxies."""


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and writes no log."""

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""


@pytest.fixture
def index(tmp_path: Path) -> Iterator[tuple[str, Callable[..., Path]]]:
    """The address of a package index, and `make_wheel` for what it is to have."""
    folder = tmp_path / "index"

    def add(name: str, version: str, requires: str = "") -> Path:
        page = folder / name.replace("_", "-")
        wheel = make_wheel(page, name, version, requires)
        names = sorted(path.name for path in page.glob("*.whl"))
        (page / "index.html").write_text("".join(f'<a href="{n}">{n}</a>\n' for n in names))
        return wheel

    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", add
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def only_loopback(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Variables of a machine that reaches loopback and nothing else, and was told nothing."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(WRITTEN_BY)}
    with socket.socket() as unused:  # bound and not listening: whoever connects is refused
        unused.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{unused.getsockname()[1]}"
        yield {
            **environ,
            "HOME": str(tmp_path / "home"),
            "HTTPS_PROXY": closed,
            "HTTP_PROXY": closed,
            "NO_PROXY": "127.0.0.1",
            "UV_CACHE_DIR": str(tmp_path / "cache"),
            "UV_HTTP_RETRIES": "0",
        }


@pytest.fixture
def uv() -> str:
    """The program `uv` of this environment."""
    found = Path(sys.executable).with_name("uv")
    program = str(found) if found.exists() else shutil.which("uv")
    assert program is not None
    return program
