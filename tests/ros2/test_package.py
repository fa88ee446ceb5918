"""The package that colcon installed: its command, its executables, its share folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from real_ros2 import ROOT, RealRos2

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ENTRY_POINTS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]


def said(real: RealRos2, *command: str) -> str:
    """What a command prints with the workspace sourced."""
    done = subprocess.run(
        command, env=real.environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_workspace_has_the_command_with_its_verbs(real: RealRos2) -> None:
    text = said(real, str(real.folder / "workspace/install/openral/bin/openral"), "--help")
    assert [verb for verb in ENTRY_POINTS["openral.cli"] if verb not in text] == []


def test_ros2_run_finds_every_node(real: RealRos2) -> None:
    listed = said(real, "ros2", "pkg", "executables", "openral").split("\n")
    nodes = [name.replace(".", " ") for name in ENTRY_POINTS["ros2_embedded.executables"]]
    assert sorted(filter(None, listed)) == sorted(nodes)


def test_what_is_imported_is_what_was_installed(real: RealRos2) -> None:
    program = (
        "import rclpy, openral.msg, openral_core.files.share as share; "
        "print(rclpy.__file__, openral.msg.__file__, share.__file__, share.share_directory(), sep='\\n')"
    )
    rclpy_file, *ours = said(real, str(real.python), "-c", program).split()
    assert Path(rclpy_file).is_relative_to(real.folder)
    install = real.folder / "workspace/install/openral"
    assert [line for line in ours if not Path(line).is_relative_to(install)] == []


@pytest.mark.parametrize("folder", ["rskills", "scenes", "launch", "robots", "suites", "config"])
def test_what_ships_is_there(real: RealRos2, folder: str) -> None:
    shipped = {path.relative_to(ROOT) for path in (ROOT / folder).rglob("*.yaml")}
    share = real.folder / "workspace/install/openral/share/openral"
    assert [path for path in shipped if not (share / path).is_file()] == []
