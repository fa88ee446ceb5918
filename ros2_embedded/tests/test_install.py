"""Sources of packages are made usable by `python -m ros2_embedded.install`."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest

from ros2_embedded.install.__main__ import main
from ros2_embedded.install.cmake_install_rules import calls, read_rules
from ros2_embedded.install.installer import site_packages

MANIFEST = (
    "<package format='3'><name>{}</name><version>1.0.0</version>"
    "<export><build_type>{}</build_type></export></package>"
)
TALK = """
def main():
    from arm_tools.action import Reach
    print(Reach.Goal().grip.force)
"""
CMAKE = """
cmake_minimum_required(VERSION 3.8)
project(arm_tools)  # everything but C++
find_package(rosidl_default_generators REQUIRED)
set(INTERFACES "msg/Grip.msg" "action/Reach.action")
rosidl_generate_interfaces(${PROJECT_NAME} ${INTERFACES} DEPENDENCIES std_msgs)
add_executable(driver src/driver.cpp)
install(TARGETS driver DESTINATION lib/${PROJECT_NAME})
ament_python_install_package(${PROJECT_NAME})
install(PROGRAMS scripts/grip.py DESTINATION lib/${PROJECT_NAME} RENAME grip)
install(DIRECTORY launch config/ DESTINATION share/${PROJECT_NAME})
ament_package()
"""
SETUP = """
from setuptools import setup

setup(
    name="py_pkg",
    version="1.0.0",
    packages=["py_pkg"],
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/py_pkg"]),
        ("share/py_pkg", ["package.xml"]),
        ("share/py_pkg/launch", ["launch/up.launch.py"]),
    ],
    entry_points={"console_scripts": ["talk = py_pkg.talk:main"]},
)
"""


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "src"
    write(
        folder / "arm_tools",
        {
            "package.xml": MANIFEST.format("arm_tools", "ament_cmake"),
            "CMakeLists.txt": CMAKE,
            "msg/Grip.msg": "std_msgs/Header header\nfloat64 force # [N]\n",
            "action/Reach.action": "Grip grip\n---\nbool done\n---\n",
            "arm_tools/__init__.py": "from arm_tools.msg import Grip\nHEAVY = Grip(force=9.0)\n",
            "scripts/grip.py": f"#!{sys.executable}\nfrom arm_tools import HEAVY\nprint(HEAVY.force)\n",
            "launch/grip.launch.xml": "<launch/>",
            "config/grip.yaml": "force: 1\n",
        },
    )
    write(
        folder / "more/py_pkg",
        {
            "package.xml": MANIFEST.format("py_pkg", "ament_python"),
            "setup.py": SETUP,
            "setup.cfg": ""
            "[develop]\nscript_dir=$base/lib/py_pkg\n[install]\ninstall_scripts=$base/lib/py_pkg\n",
            "py_pkg/__init__.py": "",
            "py_pkg/talk.py": TALK,
            "resource/py_pkg": "",
            "launch/up.launch.py": "",
        },
    )
    write(folder / "broken", {"package.xml": "<package/>", "COLCON_IGNORE": ""})
    return folder


def test_packages_are_used_after_they_are_installed(
    sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prefix = tmp_path / "prefix"
    assert main([str(sources), "--prefix", str(prefix)]) == 0
    told = capsys.readouterr().out
    assert "arm_tools: 2 interfaces; executables: grip; left out, as it needs a compiler: driver\n" in told
    assert "py_pkg: executables: talk\n" in told
    assert f'export AMENT_PREFIX_PATH="{prefix}' in told
    assert (prefix / "share/arm_tools/launch/grip.launch.xml").is_file()
    assert (prefix / "share/arm_tools/grip.yaml").is_file()
    assert (prefix / "share/py_pkg/launch/up.launch.py").is_file()
    environment = {
        **os.environ,
        "AMENT_PREFIX_PATH": str(prefix),
        "PYTHONPATH": str(site_packages(prefix)),
    }
    for words, output in (
        (["run", "arm_tools", "grip"], "9.0\n"),
        (["run", "py_pkg", "talk"], "0.0\n"),
        (["interface", "show", "arm_tools/msg/Grip", "--no-comments"], "float64 force\n"),
    ):
        command = [sys.executable, "-m", "ros2cli.cli", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.stdout.endswith(output), done.stderr


def test_one_package_can_be_chosen(sources: Path, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    assert main([str(sources), "--prefix", str(prefix), "--packages-select", "arm_tools"]) == 0
    assert not (prefix / "share/py_pkg").exists()


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("arm_tools/msg/Grip.msg", "float64\n", "Grip.msg:1"),
        ("arm_tools/package.xml", "<package>", "cannot be read"),
        ("arm_tools/package.xml", "<?xml version='1.0' encoding='shift_jis'?><package/>", "cannot be read"),
        ("arm_tools/package.xml", "<?xml version='1.0' encoding='nobodys'?><package/>", "cannot be read"),
        ("arm_tools/CMakeLists.txt", "project(x)\ninstall(FILES no.txt DESTINATION share/x)", "is not there"),
        ("more/py_pkg/setup.py", "raise SystemExit('no way')", "no way"),
        ("twin/package.xml", MANIFEST.format("py_pkg", "ament_python"), "two packages are called 'py_pkg'"),
    ],
)
def test_what_is_wrong_is_named(
    sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, reason: str
) -> None:
    write(sources, {name: text})
    assert main([str(sources), "--prefix", str(tmp_path / "prefix")]) == 1
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize(
    "rule",
    ["install(FILES a DESTINATION ../../outside)", "ament_python_install_package(../../../../../lib2)"],
)
def test_nothing_is_installed_outside_of_the_prefix(
    rule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package, prefix = tmp_path / "src" / "down" / "down" / "down" / "down" / "pkg", tmp_path / "up" / "prefix"
    manifest = MANIFEST.format("pkg", "ament_cmake")
    write(package, {"package.xml": manifest, "CMakeLists.txt": rule, "a": "", "../../../../../lib2": ""})
    assert main([str(tmp_path / "src"), "--prefix", str(prefix)]) == 1
    assert "which is not below" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "up").iterdir()] == ["prefix"]


def test_links_that_lead_back_or_nowhere_are_left_out(sources: Path, tmp_path: Path) -> None:
    (sources / "more/back").symlink_to(sources)
    (sources / "arm_tools/launch/gone.launch.xml").symlink_to(tmp_path / "gone")
    (sources / "more/py_pkg/.#talk.py").symlink_to("somebody@somewhere.1234")
    (sources / "arm_tools/launch/again").symlink_to(".")
    (sources / "more/py_pkg/up").symlink_to("..")
    prefix = tmp_path / "prefix"
    assert main([str(sources), "--prefix", str(prefix)]) == 0
    assert [path.name for path in (prefix / "share/arm_tools/launch").iterdir()] == ["grip.launch.xml"]


def test_a_prefix_that_cannot_be_written_is_named(
    sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prefix = tmp_path / "prefix"
    prefix.touch()
    assert main([str(sources), "--prefix", str(prefix)]) == 1
    told = capsys.readouterr().err
    assert told.startswith(
        f"{prefix}/share/arm_tools cannot be read or written: Not a directory; is --prefix"
    )


def test_a_folder_without_packages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 1
    assert "no package.xml" in capsys.readouterr().err


def test_entry_points_of_a_package_of_cmake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        "[options.entry_points]\nconsole_scripts =\n    hoist = hoists.lift:Lift.main\n"
        "ros2cli.command =\n    hoist = hoists.command:HoistCommand\n"
    )
    rule = "project(hoists)\nament_python_install_package(${PROJECT_NAME} SCRIPTS_DESTINATION lib/hoists)"
    package, prefix = tmp_path / "src/hoists", tmp_path / "prefix"
    lift = "class Lift:\n    @staticmethod\n    def main():\n        print('up')\n        return 3\n"
    files = {"package.xml": MANIFEST.format("hoists", "ament_cmake"), "CMakeLists.txt": rule}
    files |= {"setup.cfg": text, "hoists/__init__.py": "", "hoists/lift.py": lift}
    write(package, files)
    assert main([str(package), "--prefix", str(prefix)]) == 0
    write(package, {"package.xml": files["package.xml"].replace("1.0.0", "1.0.1")})
    assert main([str(package), "--prefix", str(prefix)]) == 0
    assert "hoists: executables: hoist\n" in capsys.readouterr().out
    (found,) = distributions(name="hoists", path=[str(site_packages(prefix))])
    assert found.version == "1.0.1"
    assert {(point.group, point.value) for point in found.entry_points} == {
        ("console_scripts", "hoists.lift:Lift.main"),
        ("ros2cli.command", "hoists.command:HoistCommand"),
    }
    environment = {**os.environ, "PYTHONPATH": str(site_packages(prefix))}
    command = [str(prefix / "lib/hoists/hoist")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "up\n"), done.stderr
    for wrong in ("[options.entry_points\n", text.replace("hoist =", "../hoist =")):
        write(package, {"setup.cfg": wrong})
        assert main([str(package), "--prefix", str(prefix)]) == 1
        assert "setup.cfg cannot be read: " in capsys.readouterr().err


def test_calls_of_cmake(tmp_path: Path) -> None:
    text = 'SET(A "x y" z) # ) no\nfoo(${A} (b) "c)d")\n#[[ bar()\n]] baz()'
    assert list(calls(text))[-1][0] == "baz"
    path = tmp_path / "CMakeLists.txt"
    path.write_text(
        "project(p)\nament_python_install_package(p PACKAGE_DIR src/p)\ninstall(FILES a b DESTINATION "
        "share/p)"
    )
    rules = read_rules(path)
    assert rules.python == [("p", "src/p")]
    assert [place for _, place, _ in rules.copies] == ["share/p/a", "share/p/b"]
