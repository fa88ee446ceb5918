"""`tools/system_packages.py`: what it asks apt for, and what it says where apt brings nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "system_packages.py"
APT_GET = '#!/bin/sh\necho "$@" >> "$(dirname "$0")/asked"\n{}\n'
BRINGS = 'for name in chromium roscore rostopic ip; do ln -sf /bin/true "$(dirname "$0")/$name"; done'
SUDO = '#!/bin/sh\n[ "$1" = -n ] && shift\nexec "$@"\n'


def machine(folder: Path, brings: str) -> dict[str, str]:
    """Variables of a machine whose only programs are an apt-get that writes down what it is asked for, and sudo."""
    folder.mkdir()
    for name, script in (("apt-get", APT_GET.format(brings)), ("sudo", SUDO)):
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    (folder / "dirname").symlink_to("/usr/bin/dirname")
    (folder / "ln").symlink_to("/bin/ln")
    return {"PATH": str(folder)}


def run(environ: dict[str, str], group: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, TOOL, group], env=environ, capture_output=True, text=True, check=False, timeout=60
    )


def test_programs_that_tests_meet_are_asked_for_one_after_another(tmp_path: Path) -> None:
    environ = machine(tmp_path / "bin", BRINGS)
    done = run(environ, "tests")
    asked = (tmp_path / "bin" / "asked").read_text().splitlines()
    assert done.returncode == 0
    assert done.stdout.startswith("openral: installing by apt: a browser, ROS 1")
    assert asked[0].endswith("update")
    assert asked[1].endswith("install -y --no-install-recommends chromium")
    assert "python3-rospy" in asked[2]


def test_tests_go_on_without_them_and_say_what_to_type(tmp_path: Path) -> None:
    done = run(machine(tmp_path / "bin", ":"), "tests")
    assert done.returncode == 0
    assert "tests of a browser, ROS 1" in done.stderr
    assert "sudo apt-get install chromium python3-roslaunch" in done.stderr


def test_a_group_that_does_not_exist_is_named(tmp_path: Path) -> None:
    done = run({}, "everything")
    assert done.returncode == 2
    assert "runtime|tests" in done.stderr
