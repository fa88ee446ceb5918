"""The result message of a goal."""

from __future__ import annotations

import math

from geometry_msgs.msg import Point, Pose, Quaternion
from openral.action import ExecuteSkill

from openral_core.types import RobotState
from openral_policy_nodes.goal_supervisor import GoalEnd
from openral_policy_nodes.inference_thread import GoalRun

UNKNOWN_M = -1.0
"""[m] value of the gripper opening where the robot's state is unknown."""


def result_message(
    end: GoalEnd,
    state: RobotState | None,
    run: GoalRun | None = None,
    *,
    steps: int = 0,
    duration_s: float = 0.0,
) -> ExecuteSkill.Result:
    """Return the result of a goal.

    Args:
        end: how it ended.
        state: of the robot at that moment; None: unknown, in which case the hand's position is NaN.
        run: state of the goal in the runner; None: it was refused.
        steps: control steps that the arm followed for it.
        duration_s: [s] on the node's clock.
    """
    result = ExecuteSkill.Result(
        outcome=int(end.outcome),
        check=end.check,
        message=end.message,
        steps=steps,
        duration_s=duration_s,
        stopped_by=end.stopped_by,
        hand=_pose(state),
        gripper_m=UNKNOWN_M if state is None else state.gripper_opening,
    )
    if run is not None:
        result.chunks = run.chunks
        result.latency_p50_s = run.latency.percentile(50)
        result.latency_p95_s = run.latency.percentile(95)
    return result


def _pose(state: RobotState | None) -> Pose:
    if state is None:
        return Pose(position=Point(x=math.nan, y=math.nan, z=math.nan))
    x, y, z = (float(value) for value in state.ee_position)
    qx, qy, qz, qw = (float(value) for value in state.ee_quaternion)
    return Pose(position=Point(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))
