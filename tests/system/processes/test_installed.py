"""The wheels, installed into an empty environment: the launch file runs from any folder, without this checkout."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from system_stack import Stack

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the commands of an environment that holds the two wheels and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    wheels = folder / "wheels"
    for project in (ROOT, ROOT / "ros2_embedded"):
        subprocess.run([*pip, "wheel", "--no-deps", "-w", str(wheels), str(project)], check=True)
    environment = folder / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    target = ["--python", str(environment / "bin" / "python")]
    subprocess.run([*pip, *target, "install", "--no-deps", *map(str, wheels.glob("*.whl"))], check=True)
    return environment / "bin"


def test_a_mission_runs_from_the_installed_package(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Third-party packages are those of the tests; ours lie there as links, which PYTHONPATH does not follow.
    monkeypatch.setenv("PYTHONPATH", sysconfig.get_path("purelib"))
    program = "import openral_core.files.share as s; print(s.__file__); print(s.share_directory())"
    said = subprocess.run(
        [installed / "python", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert all(Path(line).is_relative_to(installed.parent) for line in said.stdout.splitlines()), said.stdout
    words = ("scene:=metaworld_drawer", "mission:=open the drawer", f"run_dir:={tmp_path / 'run'}")
    launch = ("launch", "openral", "deploy_sim.launch.py", *words, "exit_when_done:=true")
    with Stack(tmp_path / "elsewhere", str(installed / "ros2"), *launch) as stack:
        assert stack.wait() == 0, stack.output
    mission = json.loads((tmp_path / "run" / "mission.json").read_text())
    assert mission["state"] == "done"
    assert str(ROOT) not in stack.output
