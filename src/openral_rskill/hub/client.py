"""A client for three requests of the hub's HTTP interface: list a repository, search, download a file.

It uses the standard library in place of `huggingface_hub`, which deletes a partial download when its process ends
(version 2.4, `_download_to_tmp_and_move`), so that 14 GB would begin again after every interruption, and whose HTTP
stack would be a dependency of every installation. Interface: https://huggingface.co/docs/hub/api.

It respects `HF_ENDPOINT` (another hub), `HF_TOKEN` or the file of `hf auth login` (private and gated repositories), the
proxy variables of the environment, and `HF_HUB_OFFLINE=1`.
"""

from __future__ import annotations

import http.client
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openral_core.errors import HubError
from openral_core.files.user_path import user_path
from openral_rskill.store.repo_id import HubReference

ENDPOINT = "https://huggingface.co"
TIMEOUT_S = 60.0
"""[s] without data after which a request fails."""
MAX_LISTING = 64 * 1024 * 1024
"""[byte] most that is read of a JSON reply."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_ODD = (KeyError, TypeError, ValueError, AttributeError, OverflowError)
"""What reading JSON of another form than a hub's raises."""


@dataclass(frozen=True)
class HubFile:
    """One file of a repository."""

    path: str
    """Relative to the repository, with slashes."""
    size: int
    """[byte]"""
    sha256: str | None = None
    """Hash of the content, known for large files (git LFS)."""
    git_sha1: str | None = None
    """Hash of the git blob, known for small files: sha1 of `blob <size>\\0` and the content."""


@dataclass(frozen=True)
class Listing:
    """A repository at one commit."""

    reference: HubReference
    """Pinned to the commit."""
    files: tuple[HubFile, ...]
    """All files, sorted by path."""


@dataclass(frozen=True)
class Found:
    """One result of a search."""

    repository: str
    downloads: int
    license: str


class HubClient:
    """A client of one hub. It keeps no connection open and may be shared by threads."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        """Read endpoint, token and offline mode from the environment.

        Raises:
            HubError: the endpoint is no address, or would send a token unencrypted to another machine.
        """
        self.endpoint = (environment.get("HF_ENDPOINT") or ENDPOINT).rstrip("/")
        self._offline = environment.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
        try:
            parts = urllib.parse.urlsplit(self.endpoint)
        except ValueError as error:
            raise HubError(
                f"HF_ENDPOINT={self.endpoint} is no address ({error}); write an https address"
            ) from error
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
            raise HubError(f"HF_ENDPOINT={self.endpoint} is not https; write an https address")
        self._token = _token(environment)
        self._opener = urllib.request.build_opener(_Redirects())

    def listing(self, reference: HubReference) -> Listing:
        """Return the files of a repository, pinned to the commit to which the revision refers now.

        Raises:
            HubError: there is no such repository or revision, no permission, or no network.
        """
        revision = urllib.parse.quote(reference.revision, safe="")
        kind = "datasets" if reference.dataset else "models"
        answer = self._json(f"/api/{kind}/{reference.repository}/revision/{revision}?blobs=true", reference)
        try:
            files = sorted((_file(entry) for entry in answer["siblings"]), key=lambda file: file.path)
            pinned = reference.at(str(answer["sha"]))
            if not pinned.is_pinned:  # it names a folder
                raise ValueError("sha")
            return Listing(pinned, tuple(files))
        except _ODD as error:
            raise HubError(
                f"{reference}: {self.endpoint} gave no list of files; is HF_ENDPOINT a hub?"
            ) from error

    def search(self, words: str, limit: int) -> list[Found]:
        """Return at most `limit` repositories that match `rskill` and contain all words, most downloaded first.

        Raises:
            HubError: there is no network, or the endpoint is no hub.
        """
        query = urllib.parse.urlencode(
            {"search": "rskill", "sort": "downloads", "direction": -1, "limit": 1000}
        )
        answer = self._json(f"/api/models?{query}", None)
        try:
            found = [
                Found(
                    str(entry["id"]), int(entry.get("downloads") or 0), _license_tag(entry.get("tags") or [])
                )
                for entry in answer
            ]
        except _ODD as error:
            raise HubError(f"{self.endpoint} gave no list of models; is HF_ENDPOINT a hub?") from error
        wanted = words.lower().split()
        return [item for item in found if all(word in item.repository.lower() for word in wanted)][:limit]

    def open(self, reference: HubReference, path: str, start: int) -> http.client.HTTPResponse:
        """Request a file from byte `start`; the reply's status is 206 if the hub supports the range, else 200.

        Raises:
            HubError: there is no such file, no permission, or no network.
        """
        kind = "/datasets" if reference.dataset else ""
        url = f"{kind}/{reference.repository}/resolve/{reference.revision}/{urllib.parse.quote(path)}"
        return self._request(url, reference, {"Range": f"bytes={start}-"} if start else {})

    def _json(self, url: str, reference: HubReference | None) -> Any:
        with self._request(url, reference, {}) as answer:
            try:
                return json.loads(answer.read(MAX_LISTING))
            except (OSError, http.client.HTTPException) as error:
                raise HubError(
                    f"{self.endpoint} broke off: {error}; check the network and try again"
                ) from error
            except (ValueError, RecursionError) as error:
                raise HubError(f"{self.endpoint}{url} is not JSON; is HF_ENDPOINT a hub?") from error

    def _request(
        self, url: str, reference: HubReference | None, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        what = str(reference) if reference else self.endpoint
        if self._offline:
            raise HubError(f"{what}: HF_HUB_OFFLINE is set; unset it to ask {self.endpoint}")
        if self._token and not (self._token.isascii() and self._token.isprintable()):
            raise HubError(f"{what}: HF_TOKEN or its file has letters that no token has; copy it anew")
        token = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        request = urllib.request.Request(
            self.endpoint + url, headers={"User-Agent": "openral", "Accept-Encoding": "identity", **headers}
        )
        for name, value in token.items():
            request.add_unredirected_header(name, value)
        try:
            answer: http.client.HTTPResponse = self._opener.open(request, timeout=TIMEOUT_S)
            return answer
        except urllib.error.HTTPError as error:
            raise HubError(f"{what}: {self._refusal(error.code, reference)}") from error
        except (
            OSError,
            http.client.HTTPException,
            ValueError,
        ) as error:  # ValueError: no host has such a name
            reason = getattr(error, "reason", error)
            raise HubError(
                f"{what}: {self.endpoint} cannot be reached ({reason}); check the network"
            ) from error

    def _refusal(self, code: int, reference: HubReference | None) -> str:
        if code in (401, 403):
            page = f"{self.endpoint}/{reference.repository}" if reference else self.endpoint
            return f"the hub wants to know you ({code}); accept the terms on {page} and set HF_TOKEN"
        if code == 404:
            return "there is no such repository, revision or file on the hub (404); check the name"
        return f"the hub answered {code}; try again later"


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, since large files are on other hosts, without sending them the token or leaving TLS."""

    http_error_308 = urllib.request.HTTPRedirectHandler.http_error_302

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        if req.full_url.startswith("https:") and not newurl.startswith("https:"):
            raise urllib.error.HTTPError(newurl, code, "redirect away from https", headers, fp)
        # For a GET 308 is the same as 307; Python handles it since 3.11.
        following = super().redirect_request(req, fp, 307 if code == 308 else code, msg, headers, newurl)
        same_host = urllib.parse.urlsplit(newurl).netloc == urllib.parse.urlsplit(req.full_url).netloc
        if following is not None and same_host and "Authorization" in req.unredirected_hdrs:
            following.add_unredirected_header("Authorization", req.unredirected_hdrs["Authorization"])
        return following


def _token(environment: Mapping[str, str]) -> str | None:
    """Return the user's token from the variable or file that the hub's own tools use; None: there is none."""
    if environment.get("HF_TOKEN"):
        return environment["HF_TOKEN"].strip()
    home = environment.get("HF_HOME") or "~/.cache/huggingface"
    path = user_path(environment.get("HF_TOKEN_PATH") or f"{home}/token")
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def _file(entry: Mapping[str, Any]) -> HubFile:
    lfs = entry.get("lfs") or {}
    size = lfs.get("size", entry.get("size"))
    return HubFile(
        path=str(entry["rfilename"]),
        size=int(size) if size is not None else -1,
        sha256=lfs.get("sha256") or lfs.get("oid"),
        git_sha1=None if lfs else entry.get("blobId"),
    )


def _license_tag(tags: list[str]) -> str:
    return next((tag.removeprefix("license:") for tag in tags if tag.startswith("license:")), "unknown")
