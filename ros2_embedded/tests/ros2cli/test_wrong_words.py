"""What a user gets wrong is told in one line, without a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ros2cli.cli import main

FILES = {
    "raises.launch.py": b"x = 1\nx / 0\n",
    "syntax.launch.py": b"def (\n",
    "binary.yaml": b"\xff\xfe\x00",
}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "topic pub /x std_msgs/msg/String --yaml-file binary.yaml -1 -w 0",
            "'binary.yaml' is no text in UTF-8",
        ),
        ("topic pub /x std_msgs/msg/String -r nan -1 -w 0", "rate nan must be a number, greater than zero"),
        ("topic pub /x std_msgs/msg/String --keep-alive nan", "keep alive nan must be a number"),
        (
            "topic pub /x std_msgs/msg/Int32 0 -1 -w 0",
            "Value '0' is expected to be a dictionary but is a int",
        ),
        ("topic hz /x -w 0", "window 0 must be a whole number, at least 1"),
        ("service call /x std_srvs/srv/Trigger -r nan", "rate nan must be a number"),
        ("bag play x --rate nan", "rate nan must be a number, greater than zero"),
        ("bag play x --clock -1", "clock -1 must be a number, greater than zero"),
        ("bag play x --start-offset inf", "start offset inf must be a number, at least zero"),
        ("bag play x --playback-until-sec inf", "playback end inf must be a number, finite"),
        ("bag play x --delay -1", "delay -1 must be a number, at least zero"),
        ("bag record -a -b -1", "bag size -1 must be a whole number, at least 0"),
        (f"topic echo /x std_msgs/msg/String --qos-depth {10**20}", "--qos-depth: depth must be at most"),
        (f"topic pub /x std_msgs/msg/String --qos-depth {10**20}", "--qos-depth: depth must be at most"),
        *(
            (
                f"topic echo /x std_msgs/msg/String --qos-liveliness-lease-duration-seconds {wrong}",
                "--qos-liveliness-lease-duration-seconds: ",
            )
            for wrong in ("-1", "nan", "1e300")
        ),
        ("topic echo //x std_msgs/msg/String --timeout 0.1", "'//x' is invalid"),
        ("topic info /x-y", "'/x-y' is invalid"),
        (
            "launch raises.launch.py",
            "raises.launch.py, line 2: ZeroDivisionError: division by zero (--debug shows",
        ),
        ("launch raises.launch.py --show-args", "raises.launch.py, line 2: ZeroDivisionError"),
        ("launch syntax.launch.py", "'syntax.launch.py', line 1: invalid syntax"),
        (
            "test raises.launch.py",
            "raises.launch.py, line 2: ZeroDivisionError: division by zero (--verbose shows",
        ),
        ("test syntax.launch.py", "syntax.launch.py, line 1: SyntaxError"),
    ],
)
def test_it_is_told_in_one_line(
    words: str,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    assert main(words.split()) == (2 if words.startswith("test") else 1)
    assert told in capsys.readouterr().err


def test_the_depth_of_ros_2_for_the_default() -> None:
    words = "topic echo /silent std_msgs/msg/String --qos-depth -1 --timeout 0.1"
    assert main(words.split()) == 0


def launch(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Launch a process that prints a word."""
    content = """<launch><executable cmd="echo W\u00fcrfel" output="screen" shell="true"/></launch>"""
    (folder / "letters.launch.xml").write_text(content, encoding="utf-8")
    code = "from ros2cli.cli import main; raise SystemExit(main())"
    kept = {name: value for name, value in os.environ.items() if name not in ("ROS_LOG_DIR", "ROS_HOME")}
    return subprocess.run(
        [sys.executable, "-c", code, "launch", "letters.launch.xml"],
        cwd=folder,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_launch_passes_on_letters_that_the_terminal_has_not(tmp_path: Path) -> None:
    done = launch(tmp_path, PYTHONIOENCODING="ascii", ROS_LOG_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "W\\xfcrfel" in done.stdout


def test_a_home_that_cannot_be_written_costs_only_the_place_of_logs(tmp_path: Path) -> None:
    done = launch(tmp_path, HOME="/proc/nobody", TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "W\u00fcrfel" in done.stdout
    assert "ROS_LOG_DIR names the folder of log files" in done.stdout + done.stderr
    assert [path.name for path in tmp_path.glob("ros2-launch-*/*.log")] == ["launch.log"]


def test_a_named_folder_of_logs_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    done = launch(tmp_path, ROS_LOG_DIR="/proc/nobody")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "/proc/nobody" in done.stderr
    assert "ROS_LOG_DIR names the folder of log files" in done.stderr
