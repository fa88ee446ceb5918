"""The wheels, installed into an empty environment: a mission from any folder, without this checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from system_stack import Stack

sys.path.append(str(Path(__file__).parents[3] / "tools"))
from install import LOCK, ROOT, ensure_uv
from torch_wheel import uv_settings

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the commands of an environment that holds the two wheels and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    uv, told = ensure_uv(sys.executable, LOCK.read_text()), {**os.environ, **uv_settings(os.environ)}
    build = [uv, "build", "--quiet", "--wheel", "-b", str(LOCK), "--out-dir", str(folder / "wheels")]
    built = [subprocess.Popen([*build, str(project)], env=told) for project in (ROOT, ROOT / "ros2_embedded")]
    environment = folder / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    assert [each.wait() for each in built] == [0, 0]
    install = [uv, "pip", "install", "--quiet", "--no-deps", "--python", str(environment / "bin" / "python")]
    subprocess.run([*install, *map(str, (folder / "wheels").glob("*.whl"))], env=told, check=True)
    return environment / "bin"


@pytest.fixture
def elsewhere(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which Python finds ours in that environment and third-party packages where the tests have them."""
    # Ours lie there, too, but as links, which PYTHONPATH does not follow.
    monkeypatch.setenv("PYTHONPATH", sysconfig.get_path("purelib"))
    program = "import openral_core.files.share as s; print(s.__file__); print(s.share_directory())"
    said = subprocess.run(
        [installed / "python", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert all(Path(line).is_relative_to(installed.parent) for line in said.stdout.splitlines()), said.stdout
    return tmp_path


def test_one_sentence_opens_a_drawer_and_closes_it(installed: Path, elsewhere: Path) -> None:
    words = ("--config", "metaworld_drawer", "--run-dir", "run", "--no-video")
    with Stack(elsewhere, str(installed / "openral"), "deploy", "sim", *words) as stack:
        assert stack.wait() == 0, stack.output
    summary = json.loads((elsewhere / "run/summary.json").read_text())
    assert summary["passed"]
    assert summary["state"] == "done"
    tasks = {task["skill_task"]: task for task in summary["tasks"]}
    assert list(tasks) == ["drawer-open-v3", "drawer-close-v3"]
    assert all(task["simulator_success"] and task["state"] == "done" for task in tasks.values())
    assert all(task["steps"] > 0 and task["progress"] > 0.5 for task in tasks.values())
    assert "the simulator agrees on every task" in stack.output
    assert stack.errors == []
    assert stack.said("was required") == 1, "the launch ends for one reason"
    assert str(ROOT) not in stack.output


def test_the_launch_file_is_found_by_its_package_s_name(installed: Path, elsewhere: Path) -> None:
    words = ("launch", "openral", "deploy_sim.launch.py", "--show-args")
    said = subprocess.run(
        [installed / "ros2", *words], cwd=elsewhere, capture_output=True, text=True, check=True
    )
    assert "'scene'" in said.stdout
    assert str(ROOT) not in said.stdout + said.stderr
