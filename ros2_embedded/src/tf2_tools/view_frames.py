"""The program `view_frames`: draws the tree of all frames that it hears of.

ros2 run tf2_tools view_frames
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.utilities import remove_ros_args
from tf2_ros.buffer import Buffer
from tf2_ros.transform_listener import TransformListener


def generate_dot(frames: Mapping[str, Any], now: float) -> str:
    """A tree of frames in the language of Graphviz.

    Args:
        frames: by name: its `parent`, `broadcaster`, `rate` [Hz] and times [s], as the buffer's
            YAML has them.
        now: the time of the picture [s].
    """
    lines = ["digraph G {"]
    for name, frame in sorted(frames.items()):
        label = "\\n".join(
            [
                f"Broadcaster: {frame['broadcaster']}",
                f"Average rate: {frame['rate']}",
                f"Buffer length: {frame['buffer_length']}",
                f"Most recent transform: {frame['most_recent_transform']}",
                f"Oldest transform: {frame['oldest_transform']}",
            ]
        )
        lines.append(f'{_quoted(frame["parent"])} -> {_quoted(name)} [label="{label}"];')
    roots = {frame["parent"] for frame in frames.values()} - set(frames)
    lines += [
        "subgraph cluster_legend { style=bold; color=black; label=legend;",
        f'"Recorded at time: {now:.6f}" [shape=plaintext];',
        "}",
        *[f'"Recorded at time: {now:.6f}" -> {_quoted(root)} [style=invis];' for root in sorted(roots)],
        "}",
    ]
    return "\n".join(lines) + "\n"


def _quoted(name: str) -> str:
    return '"' + str(name).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _listen(node: Any, seconds: float) -> Buffer:
    """The transforms that come within some time [s]."""
    buffer = Buffer()
    TransformListener(buffer, node)
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        executor.spin_once(timeout_sec=left)
    executor.shutdown()
    return buffer


def _write(output: str, dot: str) -> int:
    """Write the tree, and a picture of it where Graphviz is installed.

    Returns:
        0, or 1 where one of them cannot be written.
    """
    text = Path(f"{output}.gv")
    try:
        text.write_text(dot, encoding="utf-8")
    except OSError as error:
        sys.stderr.write(f"cannot write {text}: {error.strerror or error}; choose another --output\n")
        return 1
    if shutil.which("dot") is None:
        sys.stderr.write(
            f"{text} is written. There is no picture of it, as the program 'dot' was not found: install "
            f"graphviz, then run dot -Tpdf {text} -o {output}.pdf\n"
        )
        return 0
    done = subprocess.run(["dot", "-Tpdf", str(text), "-o", f"{output}.pdf"], check=False)
    if done.returncode:
        sys.stderr.write(f"{text} is written, but the program 'dot' made no picture of it\n")
        return 1
    sys.stdout.write(f"{text} and {output}.pdf are written\n")
    return 0


def main(argv: list[str] | None = None) -> int:
    """Listen for some seconds, print the frames as YAML, and write `<output>.gv` and `<output>.pdf`.

    Returns:
        0, or 1 where there are no frames or they cannot be written.
    """
    words = list(sys.argv if argv is None else argv)
    parser = argparse.ArgumentParser(prog="view_frames", description="Draw the tree of all frames.")
    parser.add_argument("-t", "--wait-time", type=float, default=5.0, metavar="S", help="how long to listen")
    parser.add_argument("-o", "--output", metavar="NAME", help="of the files; frames_<date> by default")
    found = parser.parse_args(remove_ros_args(words)[1:])
    rclpy.init(args=words)
    node = rclpy.create_node("view_frames")
    try:
        node.get_logger().info(f"Listening to tf data for {found.wait_time:g} seconds...")
        buffer = _listen(node, found.wait_time)
        now = node.get_clock().now().nanoseconds / 1e9
        text = buffer.all_frames_as_yaml()
    except (KeyboardInterrupt, ExternalShutdownException):
        return 1
    finally:
        node.destroy_node()
        with contextlib.suppress(KeyboardInterrupt):
            rclpy.try_shutdown()
    frames = yaml.safe_load(text)
    sys.stdout.write(text.rstrip("\n") + "\n")
    if not frames:
        sys.stderr.write("nobody published a transform; nothing is written\n")
        return 1
    date = datetime.datetime.now().strftime("%Y-%m-%d_%H.%M.%S")
    return _write(found.output or f"frames_{date}", generate_dot(frames, now))


if __name__ == "__main__":
    sys.exit(main())
