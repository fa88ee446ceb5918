"""Type stubs: a type checker knows the fields of messages, services and actions, bundled ones and others."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from ros2_embedded.rosidl.registry import get_definition, interfaces_of
from ros2_embedded.stubs import bundled_packages, main, stub_of, write_stubs

GOOD = """
import numpy as np
from example_interfaces.action import Fibonacci
from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import Image, JointState
from std_srvs.srv import SetBool

image = Image(height=2, data=np.zeros(4, np.uint8))
image.data = bytes(3)
image.header.frame_id = "camera"
x: float = PoseStamped().pose.position.x
names: list[str] = JointState(position=[1.0]).name
flag: bool = SetBool.Request(data=True).data
order: int = Fibonacci.Goal(order=3).order
"""
BAD = """
from sensor_msgs.msg import Image

Image(heigth=3)
Image().hieght = 3
Image().height = "x"
"""


@pytest.mark.slow
def test_a_type_checker_knows_the_fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    api = pytest.importorskip("mypy.api")
    stubs = tmp_path / "stubs"
    write_stubs(bundled_packages(), stubs)
    for name, text in (("good.py", GOOD), ("bad.py", BAD)):
        (tmp_path / name).write_text(text)
    configuration = tmp_path / "mypy.ini"
    configuration.write_text(f"[mypy]\nmypy_path = {stubs}\nstrict = True\n")
    options = ["--config-file", str(configuration), "--cache-dir", str(tmp_path / "cache")]
    report, errors, _ = api.run([*options, str(tmp_path / "good.py"), str(tmp_path / "bad.py")])
    assert errors == ""
    lines = [line for line in report.splitlines() if ": error:" in line]
    assert [line.partition("bad.py:")[2].partition(":")[0] for line in lines] == ["4", "5", "6"], report


def test_stubs_have_all_interfaces_and_fields() -> None:
    for package in bundled_packages():
        for kind, names in interfaces_of(package).items():
            tree = ast.parse(stub_of(package, kind))
            classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
            assert sorted(classes) == sorted(names)
            for name in names if kind == "msg" else []:
                text = ast.unparse(classes[name])
                fields = [field.name for field in get_definition(f"{package}/msg/{name}").fields]
                assert all(field in text for field in fields if not field.startswith("structure_needs"))


def test_stubs_of_other_packages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["std_srvs", "--output", str(tmp_path)]) == 0
    assert "class SetBool:" in (tmp_path / "std_srvs" / "srv" / "__init__.pyi").read_text()
    with pytest.raises(SystemExit):
        main(["no_such_package", "--output", str(tmp_path)])
    assert "no_such_package" in capsys.readouterr().err


def test_they_are_made_without_numpy(tmp_path: Path) -> None:
    """The package is built where nothing is installed but what its build needs."""
    code = (
        "import pathlib, sys; sys.modules['numpy'] = None; from ros2_embedded.stubs import *; "
        "write_stubs(bundled_packages(), pathlib.Path(sys.argv[1]), '-stubs')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "std_msgs-stubs").is_dir()
