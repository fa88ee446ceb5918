"""Interface files that are legal and unusual, and files that are no interfaces."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

from ros2_embedded.install.__main__ import main as install
from ros2_embedded.rosidl import registry
from ros2_embedded.rosidl.classes import deserialize, serialize
from ros2_embedded.rosidl.parser import InterfaceSyntaxError
from ros2cli.cli import main as ros2


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, bytes], str]:
    """Make the one message `Thing` of a package; a name is for one test, as packages are remembered."""

    def make(name: str, text: bytes) -> str:
        (tmp_path / "share/ament_index/resource_index/packages").mkdir(parents=True)
        (tmp_path / "share/ament_index/resource_index/packages" / name).touch()
        folder = tmp_path / "share" / name / "msg"
        folder.mkdir(parents=True)
        (folder / "Thing.msg").write_bytes(text)
        monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
        return name

    return make


def test_fields_may_have_any_name_of_the_constructor(package: Callable[[str, bytes], str]) -> None:
    name = package("odd_names", b"bool check\nstring default2\nint32 number 3\nint32[] stored3\nint32 self\n")
    thing = importlib.import_module(f"{name}.msg").Thing
    assert (thing().number, list(thing().stored3)) == (3, [])
    given = thing(check=True, default2="a", stored3=[1], self=5, check_fields=True)
    assert deserialize(serialize(given), thing) == given
    with pytest.raises(AssertionError, match="check"):
        thing(check=1, check_fields=True)


def test_a_file_that_is_not_in_utf_8_is_named(
    package: Callable[[str, bytes], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = package("odd_letters", b"int32 x\n# 5 \xb0C\n")
    wanted = r"Thing\.msg:2: not in UTF-8"
    with pytest.raises(InterfaceSyntaxError, match=wanted):
        _ = importlib.import_module(f"{name}.msg").Thing
    source = tmp_path / "share" / name
    (source / "package.xml").write_text(f"<package><name>{name}</name></package>")
    (source / "CMakeLists.txt").write_text('rosidl_generate_interfaces(x "msg/Thing.msg")')
    for command in (
        lambda: ros2(["interface", "show", f"{name}/msg/Thing"]),
        lambda: ros2(["topic", "pub", "/x", f"{name}/msg/Thing"]),
        lambda: install([str(source), "--prefix", str(tmp_path / "prefix")]),
    ):
        assert command() == 1
        assert "Thing.msg:2: not in UTF-8" in capsys.readouterr().err


def test_a_manifest_that_is_no_xml_is_one_line(
    package: Callable[[str, bytes], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = package("odd_manifest", b"int32 x\n")
    manifest = tmp_path / "share" / name / "package.xml"
    for text in (b"<package>", b"<package>\xb0</package>"):
        manifest.write_bytes(text)
        assert ros2(["pkg", "xml", name, "-t", "name"]) == 1
        assert str(manifest) in capsys.readouterr().err


def test_packages_that_are_not_there_are_not_remembered() -> None:
    known = len(registry._files)
    for number in range(20):
        with pytest.raises(registry.InterfaceNotFoundError):
            registry.get_definition(f"nobody_has_this_{number}/msg/Thing")
    assert len(registry._files) == known
