"""A twin in a process of its own for each test that asks for one, and the scene whose arm it is."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from openral_core.arm_section import SceneArm
from openral_core.scene import DeployScene, load_scene

_numbers = itertools.count(1)


class TwinProcess:
    """`openral robot twin` on a loopback address of its own."""

    def __init__(self) -> None:
        pid = os.getpid()
        self.address = f"127.{16 + next(_numbers) % 200}.{pid >> 8 & 255}.{1 + pid % 250}"
        # A busy machine may be late by many milliseconds; then the twin's time stands still.
        command = ["robot", "twin", "fr3_tabletop", "--address", self.address, "--patience-ms", "50"]
        self.process = subprocess.Popen(
            [Path(sys.executable).with_name("openral"), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        assert self._line().startswith("ready")

    def tell(self, line: str) -> str:
        """Tell the twin what happens to it; return what it says of itself then."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        return self._line()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()


@pytest.fixture(scope="module")
def twin() -> Iterator[TwinProcess]:
    pytest.importorskip("franky", reason="the extra [franka] is not installed: Linux on x86_64 only")
    made = TwinProcess()
    yield made
    made.close()


@pytest.fixture(scope="session")
def scene_with() -> Callable[..., DeployScene]:
    """Make the scene of the FR3 with another driver, address, or safety limits."""

    def make(driver: str, address: str = "arm", **safety: object) -> DeployScene:
        scene = load_scene("fr3_tabletop")
        assert scene.arm is not None
        limits = {**scene.arm.safety.model_dump(), **safety}
        arm = SceneArm.model_validate({"driver": driver, "address": address, "safety": limits})
        return scene.model_copy(update={"arm": arm})

    return make
