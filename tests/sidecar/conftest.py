"""Sidecar servers as processes, with a cache and identity files of the test's own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sidecar_helpers import PROGRAM, wait_for

from openral_core.manifest import RSkillManifest
from openral_rskill.registry import resolve
from openral_sidecar.client import SidecarClient
from openral_sidecar.server_announcement import ServerIdentity, announcements


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def manifest() -> Callable[..., RSkillManifest]:
    """Make a manifest that differs from a shipped one in the given fields."""
    shipped = resolve("mini-metaworld").manifest.model_dump(mode="json", exclude_unset=True)
    return lambda **changes: RSkillManifest.model_validate({**shipped, **changes})


StartServer = Callable[..., tuple["subprocess.Popen[str]", ServerIdentity]]


@pytest.fixture
def start_server(cache: Path) -> Iterator[StartServer]:
    """Start the echo sidecar by hand and wait until it is announced."""
    processes: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> tuple[subprocess.Popen[str], ServerIdentity]:
        process = subprocess.Popen(
            [sys.executable, str(PROGRAM), *arguments], text=True, env={**os.environ}, stderr=subprocess.PIPE
        )
        processes.append(process)

        def announced() -> ServerIdentity | None:
            assert process.poll() is None, process.stderr and process.stderr.read()
            return next((found for found in announcements() if found.pid == process.pid), None)

        found = wait_for(announced, "the server's identity file")
        assert isinstance(found, ServerIdentity)
        return process, found

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def client() -> Iterator[Callable[..., SidecarClient]]:
    """Make clients that are closed at the end."""
    made: list[SidecarClient] = []

    def make(endpoint: str, **options: str) -> SidecarClient:
        made.append(SidecarClient(endpoint, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()
