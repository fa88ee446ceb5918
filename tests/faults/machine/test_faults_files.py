"""Records that were cut off are readable to the last flush."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faults_commands import run
from faults_deployment import STEADY, Deployed, deployed
from faults_files import World
from system_files import load_truth
from system_stack import BIN


def messages_of(bag: Path) -> dict[str, float]:
    """Return the newest stamp [s] of each topic of a bag of JointState."""
    code = (
        "import sys\nfrom rosbag2_py import SequentialReader, StorageOptions, ConverterOptions\n"
        "from rclpy.serialization import deserialize_message\nfrom sensor_msgs.msg import JointState\n"
        "reader = SequentialReader()\n"
        "reader.open(StorageOptions(uri=sys.argv[1], storage_id='mcap'), ConverterOptions('cdr', 'cdr'))\n"
        "last = 0.0\n"
        "while reader.has_next():\n"
        "    _, data, _ = reader.read_next()\n"
        "    stamp = deserialize_message(data, JointState).header.stamp\n"
        "    last = stamp.sec + stamp.nanosec * 1e-9\n"
        "print(last)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(bag)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {"/joint_states": float(done.stdout)}


def test_a_killed_recorder_leaves_a_bag_that_can_be_read(
    shared: Deployed, tmp_path: Path, figure: Any
) -> None:
    environment = {**os.environ, "ROS_DOMAIN_ID": str(shared.stack.domain)}
    command = [str(BIN / "ros2"), "bag", "record", "-o", str(tmp_path / "bag"), "/joint_states"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as recorder:
        size = lambda: sum(file.stat().st_size for file in tmp_path.glob("bag/*.mcap"))  # noqa: E731
        shared.operator.until(lambda: size() > 20_000, "a bag that grows")
        stamp = shared.status.header.stamp
        recorder.send_signal(signal.SIGKILL)
    killed_s = stamp.sec + stamp.nanosec * 1e-9
    fixed = run("ros2", "bag", "reindex", str(tmp_path / "bag"))
    assert fixed.code == 0, fixed.said
    lost = max(0.0, killed_s - messages_of(tmp_path / "bag")["/joint_states"])
    assert lost < killed_s, "nothing could be read"
    figure(
        row=27,
        injected="SIGKILL of `ros2 bag record`",
        times=1,
        happened="`ros2 bag reindex` fixes it, it can be read",
        lost="what came after the last flush",
        worst=lost,
        unit="s lost",
        bar="1 s",
    )


def test_a_killed_bridge_leaves_a_record_that_can_be_read(shared_at_last: Deployed, figure: Any) -> None:
    own = shared_at_last
    own.operator.reset("", -1)
    own.operator.send_goal(STEADY, "wave", 60.0)
    own.operator.until_moving()
    own.until_recorded()
    executed = own.status.executed
    own.operator.until(lambda: own.status.executed > executed + 40, "motion")
    stamp = own.status.header.stamp
    own.stack.node("sim_bridge").kill()
    code = own.stack.wait()
    assert code != 0, "a deployment without its bridge ended as if all were well"
    truth = own.truth()
    lost = stamp.sec + stamp.nanosec * 1e-9 - float(truth["stamp_s"][-1])
    figure(
        row=27,
        injected="SIGKILL of the bridge in the middle of a goal",
        times=1,
        happened="the launch ended with an error; truth.npz is whole up to its last flush",
        lost="what came after the last flush",
        worst=max(0.0, lost),
        unit="s lost",
        bar="1 s",
    )


@contextlib.contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[None]:
    """Mount a disk of so many kilobytes at a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk is mounted by root only")
def test_a_full_disk_ends_no_motion_and_shows_no_traceback(tmp_path: Path, figure: Any) -> None:
    world = World(tmp_path)
    with small_disk(world.run_dir, 80), deployed(world, "enable_reward_monitor:=false") as own:
        own.operator.until_active(STEADY)
        handle = own.operator.send_goal(STEADY, "wave", 60.0)
        own.operator.until_moving()
        own.operator.until(lambda: "space left" in own.stack.output, "a word about the full disk")
        executed = own.status.executed
        own.operator.until(lambda: own.status.executed > executed + 80, "motion on a full disk")
        own.rest_after(handle)
        assert "Traceback" not in own.stack.output, own.stack.output
        truth = load_truth(world.run_dir)
        assert len(truth["stamp_s"])
        own.stack.interrupt()
        own.stack.wait()
    figure(
        row=27,
        injected="the run folder's disk is full in the middle of a goal",
        times=1,
        happened="it was said in a line, the arm went on, the record is whole up to the last flush that fitted",
        lost="the record after it",
        bar="readable",
    )
