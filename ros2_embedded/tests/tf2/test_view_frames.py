"""The tree of frames as a picture."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from geometry_msgs.msg import TransformStamped

from rclpy.node import Node
from tf2_ros import StaticTransformBroadcaster

PROGRAM = [sys.executable, "-c", "import sys; from tf2_tools.view_frames import main; sys.exit(main())"]


def view(folder: Path, *arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **({} if path is None else {"PATH": path})}
    return subprocess.run(
        [*PROGRAM, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_tree_of_frames_is_drawn(node: Node, tmp_path: Path) -> None:
    done = view(tmp_path, "--wait-time", "0.1")
    assert done.returncode == 1
    assert "nobody published a transform" in done.stderr
    message = TransformStamped(child_frame_id='tool"s')
    message.header.frame_id = "base"
    message.transform.rotation.w = 1.0
    StaticTransformBroadcaster(node).sendTransform(message)
    done = view(tmp_path, "-t", "3", "-o", "tree", path="/nowhere")
    assert done.returncode == 0, done.stderr
    assert "install graphviz" in done.stderr
    assert yaml.safe_load(done.stdout)['tool"s']["parent"] == "base"
    dot = (tmp_path / "tree.gv").read_text()
    assert '"base" -> "tool\\"s" [label="Broadcaster: ' in dot
    done = view(tmp_path, "-t", "3", "-o", "no/tree", path="/nowhere")
    assert done.returncode == 1
    assert done.stderr.endswith(
        "cannot write no/tree.gv: No such file or directory; choose another --output\n"
    )
    if shutil.which("dot") is not None:
        subprocess.run(["dot", "-Tpdf", "tree.gv", "-o", "tree.pdf"], cwd=tmp_path, check=True)
        assert (tmp_path / "tree.pdf").stat().st_size
