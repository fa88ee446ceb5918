"""Options that other packages add to `ros2 launch`, and the functions of `ros2launch.api`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ros2cli.cli import main

OPTION = """
from launch import LaunchDescription
from launch.actions import LogInfo
from ros2launch.option import OptionExtension


class GreetOption(OptionExtension):
    def add_arguments(self, parser, cli_name, *, argv=None):
        parser.add_argument("--greet", metavar="WORD", help=f"greet before {cli_name}")

    def prestart(self, args):
        print(f"prestart {self.NAME} {args.greet}", flush=True)

    def prelaunch(self, launch_description, args):
        return (LaunchDescription([LogInfo(msg=f"hello {args.greet}"), launch_description]),)

    def postlaunch(self, launch_return_code, args):
        print(f"postlaunch {launch_return_code}", flush=True)


class BrokenOption(OptionExtension):
    def add_arguments(self, parser, cli_name, *, argv=None):
        parser.no_such_method()
"""
LAUNCH = """<launch>
<arg name="word" default="none" description="a word"/>
<log message="said $(var word)"/>
</launch>"""


@pytest.fixture
def launch_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A launch file, in a package of the resource index."""
    share = tmp_path / "prefix/share/speech"
    index = tmp_path / "prefix/share/ament_index/resource_index/packages"
    index.mkdir(parents=True)
    (index / "speech").touch()
    (share / "launch").mkdir(parents=True)
    path = share / "launch/say.launch.xml"
    path.write_text(LAUNCH)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "prefix"))
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path))
    return path


def test_an_option_sees_the_launch_from_its_start_to_its_end(
    launch_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "launchgreet.py").write_text(OPTION)
    information = tmp_path / "launchgreet-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: launchgreet\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[ros2launch.option]\ngreet = launchgreet:GreetOption\nbroken = launchgreet:BrokenOption\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["launch", "speech", "say.launch.xml", "--greet", "all", "word:=yes"]) == 0
    sys.modules.pop("launchgreet")
    out = capfd.readouterr().out
    places = [out.find(words) for words in ("prestart greet all", "hello all", "said yes", "postlaunch 0")]
    assert -1 not in places, out
    assert places == sorted(places)
    assert "plug-in 'broken' of 'ros2launch.option' cannot be used: AttributeError" in caplog.text


def test_the_functions_of_programs_that_launch(launch_file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from ros2launch import api

    path = api.get_share_file_path_from_package(package_name="speech", file_name="say.launch.xml")
    assert path == str(launch_file)
    assert api.get_launch_file_paths(path=str(launch_file.parents[1])) == [path]
    assert not api.is_launch_file(path=str(launch_file.parent))
    with pytest.raises(FileNotFoundError, match="speech"):
        api.get_share_file_path_from_package(package_name="speech", file_name="no.launch.xml")
    (launch_file.parents[1] / "say.launch.xml").write_text(LAUNCH)
    with pytest.raises(api.MultipleLaunchFilesError) as raised:
        api.get_share_file_path_from_package(package_name="speech", file_name="say.launch.xml")
    assert len(raised.value.paths) == 2
    assert list(api.parse_launch_arguments(["a:=1", "b:=x:=y"])) == [("a", "1"), ("b", "x:=y")]
    with pytest.raises(RuntimeError, match="malformed"):
        api.parse_launch_arguments(["a"])
    api.print_arguments_of_launch_file(launch_file_path=path)
    assert "'word':" in capfd.readouterr().out
    api.print_a_launch_file(launch_file_path=path)
    assert "word" in capfd.readouterr().out
    assert api.launch_a_launch_file(launch_file_path=path, launch_file_arguments=["word:=so"]) == 0
    assert "said so" in capfd.readouterr().out
