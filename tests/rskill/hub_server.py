"""A hub on this machine: the three requests that openral makes of one, and the faults of a network."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

SKILL, WEIGHTS = "maker/rskill-example", "maker/checkpoint"
LARGE = 200
"""[byte] from which a file counts as large (LFS), and is served from the other host."""


@dataclass
class Hub:
    """What it holds, what goes wrong, and what it was asked."""

    repositories: dict[str, dict[str, dict[str, bytes]]] = field(default_factory=dict)
    """owner/name, or datasets/owner/name -> commit -> path -> bytes; the last commit is `main`."""
    cuts: dict[str, list[int]] = field(default_factory=dict)
    """path -> bytes after which the next answers break off, one entry an answer."""
    stalls: dict[str, int] = field(default_factory=dict)
    """path -> bytes after which an answer stays away until `go_on` is set."""
    go_on: threading.Event = field(default_factory=threading.Event)
    ranges: bool = True
    lies: set[str] = field(default_factory=set)
    """Paths of which other bytes are served than announced."""
    gated: set[str] = field(default_factory=set)
    """Repositories that need the token `secret`."""
    requests: list[tuple[str, str, str | None, str | None]] = field(default_factory=list)
    """(host, path, Range, Authorization) of each request."""
    port: int = 0

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def commit(self, repository: str, files: dict[str, bytes]) -> str:
        """Add a commit and return its hash."""
        commits = self.repositories.setdefault(repository, {})
        text = f"{repository}{len(commits)}{sorted(files)}".encode()
        name = hashlib.sha1(text).hexdigest()
        commits[name] = dict(files)
        return name

    def fetched(self) -> list[str]:
        """Return the paths of the files that were asked for, without those of the redirect."""
        return [path for _, path, _, _ in self.requests if "/resolve/" in path]


@contextlib.contextmanager
def running() -> Iterator[Hub]:
    """A hub on a port of its own."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), lambda *args: _Handler(hub, *args))
    hub.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.go_on.set()
        server.shutdown()
        server.server_close()
        thread.join(30)


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, hub: Hub, *args: Any) -> None:
        self.hub = hub
        super().__init__(*args)

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        token = self.headers.get("Authorization")
        self.hub.requests.append((self.headers["Host"], url.path, self.headers.get("Range"), token))
        if url.path == "/api/models":
            self._json(
                [{"id": name, "downloads": 3, "tags": ["license:mit"]} for name in self.hub.repositories]
            )
        elif found := re.fullmatch(r"/api/(?:models/|(?=datasets/))(.+)/revision/(.+)", url.path):
            self._listing(found[1], unquote(found[2]), parse_qs(url.query))
        elif found := re.fullmatch(r"/((?:datasets/)?[^/]+/[^/]+)/resolve/([^/]+)/(.+)", url.path):
            self._redirect(found[1], found[2], unquote(found[3]))
        elif found := re.fullmatch(r"/cdn/((?:datasets/)?[^/]+/[^/]+)/([^/]+)/(.+)", url.path):
            self._file(found[1], found[2], unquote(found[3]))
        else:
            self.send_error(404)

    def _files(self, repository: str, revision: str) -> dict[str, bytes] | None:
        if repository in self.hub.gated and self.headers.get("Authorization") != "Bearer secret":
            self.send_error(401)
            return None
        commits = self.hub.repositories.get(repository, {})
        name = list(commits)[-1] if revision == "main" and commits else revision
        if name not in commits:
            self.send_error(404)
            return None
        return commits[name]

    def _listing(self, repository: str, revision: str, query: dict[str, list[str]]) -> None:
        files = self._files(repository, revision)
        if files is None:
            return
        assert query == {"blobs": ["true"]}
        commits = self.hub.repositories[repository]
        sha = list(commits)[-1] if revision == "main" else revision
        siblings = [_sibling(path, data) for path, data in files.items()]
        self._json({"id": repository, "sha": sha, "siblings": siblings, "cardData": {"license": "mit"}})

    def _redirect(self, repository: str, commit: str, path: str) -> None:
        files = self._files(repository, commit)
        if files is None:
            return
        if path in files and len(files[path]) >= LARGE:
            # The same server by another name, as a hub's storage is: no token belongs there.
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{self.hub.port}/cdn/{repository}/{commit}/{path}")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._file(repository, commit, path)

    def _file(self, repository: str, commit: str, path: str) -> None:
        data = self.hub.repositories[repository][commit].get(path)
        if data is None:
            self.send_error(404)
            return
        if path in self.hub.lies:
            data = bytes(len(data))
        start = int((self.headers.get("Range") or "bytes=0-")[6:-1]) if self.hub.ranges else 0
        if start and start >= len(data):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        cuts = self.hub.cuts.get(path)
        end = start + cuts.pop(0) if cuts else len(data)
        stall = self.hub.stalls.get(path, end)
        self.wfile.write(data[start:stall])
        if stall < end:
            self.wfile.flush()
            self.hub.go_on.wait(300)
            with contextlib.suppress(OSError):  # whoever asked may be gone
                self.wfile.write(data[stall:end])

    def _json(self, value: Any) -> None:
        text = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def _sibling(path: str, data: bytes) -> dict[str, Any]:
    if len(data) >= LARGE:
        lfs = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}
        return {"rfilename": path, "size": len(data), "blobId": "0" * 40, "lfs": lfs}
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    return {"rfilename": path, "size": len(data), "blobId": blob}
