"""The program that publishes one transform."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable

import pytest

from rclpy.node import Node
from rclpy.time import Time
from tf2_py.rigid import rotate
from tf2_ros import Buffer, TransformListener
from tf2_ros.static_transform_publisher import parse, quaternion_from_euler

FRAMES = ["--frame-id", "base", "--child-frame-id", "camera"]


def test_angles_turn_about_fixed_axes() -> None:
    q = quaternion_from_euler(math.pi / 2, 0.0, math.pi / 2)  # x, then z: y goes to z and stays there
    assert rotate(q, (0.0, 1.0, 0.0)) == pytest.approx((0.0, 0.0, 1.0))
    assert rotate(quaternion_from_euler(0.1, 0.2, 0.3), (0.0, 0.0, 1.0))[0] == pytest.approx(
        math.cos(0.3) * math.sin(0.2) * math.cos(0.1) + math.sin(0.3) * math.sin(0.1)
    )


def test_the_older_form_of_many_launch_files(capsys: pytest.CaptureFixture[str]) -> None:
    angles = parse(["-0.1", "0.2", "1e-3", "1.57", "0.1", "-0.3", "base", "laser"])
    assert "Old-style arguments are deprecated" in capsys.readouterr().err
    options = (
        "--x -0.1 --y 0.2 --z 1e-3 --yaw 1.57 --pitch 0.1 --roll -0.3 --frame-id base --child-frame-id laser"
    )
    assert angles == parse(options.split())
    turned = parse(["1", "2", "3", "0", "0", "0.6", "0.8", "base", "laser"]).transform.rotation
    assert (turned.z, turned.w) == (0.6, 0.8)
    with pytest.raises(SystemExit):
        parse(["1", "2", "3", "a", "b", "c", "base", "laser"])


def test_command_lines(capsys: pytest.CaptureFixture[str]) -> None:
    rotation = parse([*FRAMES, "--qz", "2", "--qw", "2"]).transform.rotation
    assert (rotation.z, rotation.w) == pytest.approx((math.sqrt(0.5), math.sqrt(0.5)))
    small = parse([*FRAMES, "--x", "-1e-05", "--yaw", "-2.5e-17", "--z=-.5"]).transform.translation
    assert (small.x, small.z) == (-1e-5, -0.5)
    for wrong in (["--qx", "1", "--yaw", "1"], ["--qx", "0"], ["--frame-id", "camera"]):
        with pytest.raises(SystemExit):
            parse([*FRAMES, *wrong])
    assert "its own parent" in capsys.readouterr().err


def test_it_publishes_until_it_is_ended(node: Node, spin: Callable[..., None]) -> None:
    code = "import sys; from tf2_ros.static_transform_publisher import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *FRAMES, "--x", "0.5", "--ros-args", "-r", "__node:=mount"]
    process = subprocess.Popen(command)
    try:
        buffer = Buffer()
        TransformListener(buffer, node)
        spin(lambda: buffer.can_transform("base", "camera", Time()))
        assert buffer.lookup_transform("base", "camera", Time()).transform.translation.x == 0.5
        assert "mount" in node.get_node_names()
        process.terminate()
        assert process.wait(90) == 0
    finally:
        process.kill()
        process.wait()
