"""Programs written with packages of other people run on the runtime as they are."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import rclpy
from conftest import FOLDER, PROGRAM_S
from rclpy.executors import SingleThreadedExecutor
from ros2_embedded.install.__main__ import main as install
from ros2_embedded.install.installer import site_packages
from std_msgs.msg import Int16MultiArray
from std_srvs.srv import SetBool

Start = Callable[..., "subprocess.Popen[str]"]


def test_a_behaviour_tree_runs_a_skill(start: Start) -> None:
    start("-m", "openral_reasoner.ros.fakes_node", "home")
    tree = start("tree.py", "motion_home")
    output, errors = tree.communicate(timeout=PROGRAM_S)
    assert tree.returncode == 0, output + errors
    assert output.count("outcome 1") == 2


def test_roslibpy_talks_to_nodes(start: Start) -> None:
    def answer(request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        response.success, response.message = request.data, "switched"
        return response

    context = rclpy.init(args=[], context=rclpy.Context())
    node = rclpy.create_node("robot", context=context)
    publisher = node.create_publisher(Int16MultiArray, "/echo", 10)
    node.create_subscription(Int16MultiArray, "/voice", publisher.publish, 10)
    node.create_service(SetBool, "/switch", answer)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    try:
        bridge = start("bridge.py")
        assert bridge.stdout is not None
        page = start("page.py", bridge.stdout.readline().strip())
        output, errors = page.communicate(timeout=PROGRAM_S)
        assert (page.returncode, output) == (0, "heard True, answer switched\n"), errors
    finally:
        executor.shutdown()
        thread.join()
        node.destroy_node()
        context.try_shutdown()


def test_a_package_of_sources_is_run_and_launched(tmp_path: Path) -> None:
    assert install([str(FOLDER / "greeter"), "--prefix", str(tmp_path)]) == 0
    environment = {
        **os.environ,
        "AMENT_PREFIX_PATH": str(tmp_path),
        "PYTHONPATH": str(site_packages(tmp_path)),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "ROS_LOG_DIR": str(tmp_path / "log"),
    }
    for words, said in (
        (["run", "greeter", "greet", "--ros-args", "-p", "name:=you"], "Hello, you!"),
        (["launch", "greeter", "greet.launch.xml", "name:=all"], "Hello, all!"),
    ):
        command = [sys.executable, "-m", "ros2cli.cli", *words]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=PROGRAM_S, check=False
        )
        assert done.returncode == 0, done.stderr
        assert said in done.stdout
