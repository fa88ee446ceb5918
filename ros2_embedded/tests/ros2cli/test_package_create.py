"""`ros2 pkg create`: what it writes is a package, which can be made usable and run."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest

from ros2cli.cli import main

MAINTAINER = ("--maintainer-name", "Ada", "--maintainer-email", "ada@example.org", "--license", "Apache-2.0")


def create(folder, *words):
    return main(["pkg", "create", *words, "--destination-directory", str(folder), *MAINTAINER])


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_python_package_runs(tmp_path):
    words = ("my_tools", "--build-type", "ament_python", "--dependencies", "rclpy", "std_msgs")
    assert create(tmp_path / "src", *words, "--node-name", "hello", "--library-name", "parts") == 0
    folder = tmp_path / "src" / "my_tools"
    assert files(folder) == [
        "my_tools/__init__.py",
        "my_tools/hello.py",
        "my_tools/parts/__init__.py",
        "package.xml",
        "resource/my_tools",
        "setup.cfg",
        "setup.py",
    ]
    manifest = ElementTree.parse(folder / "package.xml").getroot()
    assert [each.text for each in manifest.findall("depend")] == ["rclpy", "std_msgs"]
    assert manifest.findtext("export/build_type") == "ament_python"
    maintainer = manifest.find("maintainer")
    assert (maintainer.text, maintainer.get("email")) == ("Ada", "ada@example.org")
    # Its own setup.py says what is run, and its module runs.
    done = subprocess.run(
        [sys.executable, "-c", "from my_tools.hello import main; main()"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "Hi from my_tools.\n"
    from ros2_embedded.install.__main__ import main as install

    assert install([str(folder), "--prefix", str(tmp_path / "prefix")]) == 0
    assert (tmp_path / "prefix" / "lib" / "my_tools" / "hello").is_file()


def test_a_cmake_package_builds_its_node_and_finds_its_dependencies(tmp_path):
    assert create(tmp_path, "arm_driver", "--node-name", "driver", "--dependencies", "rclcpp") == 0
    folder = tmp_path / "arm_driver"
    assert files(folder) == ["CMakeLists.txt", "package.xml", "src/driver.cpp"]
    rules = (folder / "CMakeLists.txt").read_text()
    for line in (
        "project(arm_driver)",
        "find_package(rclcpp REQUIRED)",
        "add_executable(driver src/driver.cpp)",
    ):
        assert line in rules
    assert rules.rstrip().endswith("ament_package()")
    manifest = ElementTree.parse(folder / "package.xml").getroot()
    assert manifest.findtext("buildtool_depend") == "ament_cmake"


def test_words_with_marks_of_xml_and_python_stay_words(tmp_path):
    words = 'it\'s <a> & "b"'
    assert create(tmp_path, "odd", "--build-type", "ament_python", "--description", words) == 0
    assert ElementTree.parse(tmp_path / "odd" / "package.xml").getroot().findtext("description") == words
    compile((tmp_path / "odd" / "setup.py").read_text(), "setup.py", "exec")


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("Arm",), "package name 'Arm': use small letters"),
        (("class",), "package name 'class': use small letters"),
        (("arm", "--node-name", "my-node"), "node name 'my-node': use small letters"),
        (("test", "--build-type", "ament_python"), "can't be named 'test'"),
        (("arm", "--library-name", "parts"), "a library of C++ is not written here"),
    ],
)
def test_what_would_not_work_is_refused(tmp_path, words, fault, capsys):
    assert create(tmp_path, *words) == 1
    assert fault in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_directory_that_is_there_is_left(tmp_path, capsys):
    (tmp_path / "arm").mkdir()
    assert create(tmp_path, "arm") == 1
    assert "the directory already exists" in capsys.readouterr().err


def test_a_node_named_as_its_library_gets_another_name(tmp_path):
    words = ("arm", "--build-type", "ament_python", "--node-name", "parts", "--library-name", "parts")
    assert create(tmp_path, *words) == 0
    assert (tmp_path / "arm" / "arm" / "parts_node.py").is_file()


@pytest.mark.parametrize("error", [KeyError("getpwuid(): uid not found: 54321"), OSError("No username set")])
def test_a_user_without_a_name_creates_packages(tmp_path, monkeypatch, error):
    def nobody():
        raise error

    monkeypatch.setattr("getpass.getuser", nobody)
    words = ("my_tools", "--maintainer-email", "a@example.org", "--destination-directory", str(tmp_path))
    assert main(["pkg", "create", *words]) == 0
    assert ElementTree.parse(tmp_path / "my_tools" / "package.xml").getroot().findtext("maintainer") == "todo"
