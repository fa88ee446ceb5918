"""Packages of other people, pinned in requirements.txt and installed into a folder of their own."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
REQUIREMENTS = FOLDER / "requirements.txt"
INSTALL_S, PROGRAM_S = 300, 60
"""[s] How long the installation and one program may take."""


@pytest.fixture(scope="session")
def packages() -> Path:
    """The folder; made once for each state of requirements.txt and each interpreter, then reused."""
    state = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = Path(sys.prefix) / f".ecosystem-{state}"
    if not (folder / "complete").is_file():
        command = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--quiet", "--no-config"]
        command += [
            "--target",
            str(folder),
            "--python",
            sys.executable,
            "--require-hashes",
            "-r",
            str(REQUIREMENTS),
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            pytest.skip(f"the packages cannot be installed: {error}")
        if done.returncode != 0:
            pytest.skip(f"the packages cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
        (folder / "complete").touch()
    return folder


@pytest.fixture
def start(packages: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a Python program that sees the packages; it is killed when the test ends."""
    started: list[subprocess.Popen[str]] = []

    def start_one(*words: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": str(packages), "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, *words]
        process = subprocess.Popen(
            command, env=environment, cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield start_one
    for process in started:
        process.kill()
        process.communicate()
