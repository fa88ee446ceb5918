"""Clocks that jump or stand still, and transforms that are missing, old or in a loop."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from faults_deployment import SERVED, STEADY, Deployed, deployed
from faults_files import PLUGIN, World
from faults_member import Member
from geometry_msgs.msg import TransformStamped
from lifecycle_msgs.msg import Transition
from rclpy.duration import Duration
from rclpy.time import Time
from system_stack import wait_for
from tf2_ros import Buffer, ExtrapolationException, LookupException, TransformException, TransformListener
from tf2_ros.transform_broadcaster import TransformBroadcaster

DEADLINE = 3
HOUR_S = 3600
BASE, HAND = "right_arm_base_link", "hand"


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler: apt-get install gcc")
def test_a_wall_clock_that_jumps_disturbs_nothing(tmp_path: Path, figure: Any) -> None:
    library, file = tmp_path / "clock_shift.so", tmp_path / "shift"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(PLUGIN / "clock_shift.c"), "-ldl"]
    subprocess.run(command, check=True)
    file.write_text("0")
    shim = {"LD_PRELOAD": str(library), "CLOCK_SHIFT_FILE": str(file)}
    with mock.patch.dict("os.environ", shim), deployed(World(tmp_path)) as own:
        own.operator.until_active(SERVED, STEADY)
        ended = own.operator.run_skill(STEADY, "wave", 4.0)
        own.operator.until_moving()
        jumps = (HOUR_S, 0, -HOUR_S, -2 * HOUR_S, 0)
        for seconds in jumps:
            file.write_text(str(seconds))
            executed = own.status.executed
            own.operator.until(
                lambda executed=executed: own.status.executed > executed, f"motion at {seconds} s"
            )
        result = ended()
        assert (result.outcome, result.check) == (DEADLINE, "deadline"), result
        assert abs(result.duration_s - 4.0) < 0.5, "the deadline was counted on the clock that jumped"
        mission = own.mission("open the drawer")
        assert mission.state == "done", mission.message
        truth = own.until_recorded()
        step = np.diff(truth["wall_s"])
        own.stack.interrupt()
        assert own.stack.wait() == 0
    assert step.min() > 0
    assert step.max() < HOUR_S / 10
    figure(
        row=13,
        injected="the wall clock of all nodes jumps by an hour, both ways, in a goal",
        times=len(jumps),
        happened="the arm went on, the goal ended at its deadline, the next mission was done",
        worst=abs(result.duration_s - 4.0),
        unit="s off the goal's deadline",
        bar="0 missed deadlines",
    )


def test_a_world_that_stands_still_lets_deadlines_wait(shared: Deployed, figure: Any) -> None:
    shared.operator.reset("", -1)
    with Member(shared.stack) as member:
        ended = shared.operator.run_skill(STEADY, "wave", 2.0)
        shared.operator.until_moving()
        assert member.change("/openral/sim_bridge", Transition.TRANSITION_DEACTIVATE)
        told, stamp = len(member.status), member.status[-1].header.stamp
        member.until(lambda: len(member.status) > told + 3, "words of a bridge that stands still")
        now = member.status[-1].header.stamp
        stood = now.sec - stamp.sec + 1e-9 * (now.nanosec - stamp.nanosec)
        assert stood < 0.2, "time went on in a world that stands still"
        assert member.change("/openral/sim_bridge", Transition.TRANSITION_ACTIVATE)
        result = ended()
    # On a machine that stands still for long, the pause is taken for a dead bridge.
    assert result.check in ("deadline", "stale_observation"), result
    if result.check == "deadline":
        assert result.duration_s == pytest.approx(2.0, abs=0.3)
    figure(
        row=13,
        injected="/clock stands still for some hundred ms in a goal",
        times=1,
        happened=f"nothing moved meanwhile; the goal ended: {result.check}",
        worst=result.duration_s,
        unit="s of the world for a deadline of 2 s",
        bar="pauses with the world",
    )


def test_transforms_that_are_not_there_are_typed_errors(shared: Deployed, figure: Any) -> None:
    with Member(shared.stack) as member:
        buffer = Buffer(cache_time=Duration(seconds=10.0))
        TransformListener(buffer, member.node)
        wait_for(lambda: buffer.can_transform(BASE, HAND, Time()), "the hand's transform")
        newest = Time.from_msg(buffer.lookup_transform(BASE, HAND, Time()).header.stamp)
        with pytest.raises(LookupException):
            buffer.lookup_transform(BASE, "no_such_frame", Time())
        bridge = shared.stack.node("sim_bridge")
        bridge.send_signal(signal.SIGSTOP)
        try:
            late = newest + Duration(seconds=60.0)
            with pytest.raises(ExtrapolationException):
                buffer.lookup_transform(BASE, HAND, late)
        finally:
            bridge.send_signal(signal.SIGCONT)
        with pytest.raises(TransformException):
            self_related(member, buffer)
    figure(
        row=14,
        injected="a frame that nobody publishes, an instant after the last one, a loop of two frames",
        times=3,
        happened="LookupException, ExtrapolationException, TransformException; never the last known value",
        bar="typed error",
    )


def self_related(member: Member, buffer: Buffer) -> None:
    """Publish two frames that are each other's parents, and ask for the way from them to another."""
    broadcaster = TransformBroadcaster(member.node)
    for _ in range(20):
        for parent, child in (("loop_a", "loop_b"), ("loop_b", "loop_a")):
            transform = TransformStamped(child_frame_id=child)
            transform.header.frame_id = parent
            transform.header.stamp = member.node.get_clock().now().to_msg()
            transform.transform.rotation.w = 1.0
            broadcaster.sendTransform(transform)
        if "loop_a" in buffer.all_frames_as_string():
            break
    wait_for(lambda: "loop_a" in buffer.all_frames_as_string(), "the loop")
    buffer.lookup_transform(BASE, "loop_a", Time())
