"""Conformance servers as processes, and skills that want one; with a cache of the test's own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from rldx_helpers import EMPTY_SAFETENSORS, MODULE, PATIENCE_S, SHIPPED, Started, wait_for

from openral_rskill.registry import RSkillPackage, load_package
from openral_sidecar.server_announcement import announcements


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of the test's own, accepted terms, and servers in our own interpreter."""
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENRAL_ACCEPT_NONCOMMERCIAL", "1")
    monkeypatch.setenv("OPENRAL_RLDX_PYTHON", sys.executable)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Started]]:
    """Start a conformance server by hand; it serves the skill of `package` unless told otherwise."""
    processes: list[subprocess.Popen[bytes]] = []

    def run(*words: str, model: str = str(tmp_path / "skill" / "checkpoint")) -> Started:
        record = tmp_path / f"record{len(processes)}.jsonl"
        record.touch()
        command = [
            sys.executable,
            "-m",
            MODULE,
            "--model",
            model,
            "--quantization",
            "nf4",
            "--record",
            str(record),
        ]
        process = subprocess.Popen([*command, *words], env={**os.environ})
        processes.append(process)

        def port() -> int:
            assert process.poll() is None, "the server ended while it started"
            return next((found.port for found in announcements() if found.pid == process.pid), 0)

        return Started(process, wait_for(port, "the server's identity file"), record)

    yield run
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture
def package(tmp_path: Path) -> Callable[..., RSkillPackage]:
    """The manifest that openral ships, with weights beside it; keywords change its fields."""

    def make(**changes: Any) -> RSkillPackage:
        folder = tmp_path / "skill"
        (folder / "checkpoint").mkdir(parents=True, exist_ok=True)
        (folder / "checkpoint" / "model.safetensors").write_bytes(EMPTY_SAFETENSORS)
        # A crowded machine may take its time; what a test wants to time out says so itself.
        usual = {"weights_uri": "local://checkpoint", "latency_budget": {"per_chunk_ms": 1000 * PATIENCE_S}}
        content = {**yaml.safe_load(SHIPPED.read_text()), **usual, **changes}
        (folder / "rskill.yaml").write_text(yaml.safe_dump(content))
        return load_package(folder)

    return make
