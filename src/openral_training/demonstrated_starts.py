"""The start poses of demonstrations, in the form of a manifest's `start_poses`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from openral_core.adapters.state_layout import GRIPPER_SPAN_M
from openral_core.manifest import StartPose

LEAST_TOLERANCE_M = 0.012
"""[m] least tolerance of a start pose; motions arrive within a centimetre."""
WIDENED = 1.5
"""Tolerance as a multiple of the greatest distance of a demonstration's start from the mean."""
SAME_M = 0.002
"""[m] greatest distance of the means of tasks that share an entry."""
SAME_OPENING_M = 0.01
"""[m] range of openings up to which an entry states their mean."""
_OPENING_SCALE = {"ee_pos3_gripper1": GRIPPER_SPAN_M, "ee_pos3_rot6_gripper1": 1.0}
"""Layouts that begin with the hand's position -> unit [m] of their last number, the opening."""


def hands_of(state: NDArray[np.float32], layout: str | None) -> NDArray[np.float64] | None:
    """Return (N, 4) [m] positions and openings of proprioception vectors (N, D); None: the layout has neither."""
    if layout not in _OPENING_SCALE:
        return None
    numbers = state.astype(np.float64)
    return np.concatenate([numbers[:, :3], _OPENING_SCALE[layout] * numbers[:, -1:]], axis=1)


def start_poses(hands: Mapping[str, NDArray[np.float64]]) -> tuple[StartPose, ...]:
    """Return the fewest entries that state where each task began.

    The largest group of tasks that began at the same place shares the entry without a task; the others have their own.

    Args:
        hands: task -> (N, 4) [m] positions in the world frame and openings, one row for each demonstration.
    """
    own = {task: _pose(task, rows) for task, rows in hands.items()}
    groups: list[list[str]] = []
    for task, pose in own.items():
        group = next((g for g in groups if _is_same(own[g[0]], pose)), None)
        if group is None:
            groups.append([task])
        else:
            group.append(task)
    shared = max(groups, key=len)
    common = _pose(None, np.concatenate([hands[task] for task in shared]))
    return (common, *(pose for task, pose in own.items() if task not in shared))


def yaml_lines(poses: Sequence[StartPose]) -> str:
    """Return the manifest's key `start_poses`, one entry per line."""
    lines = []
    for pose in poses:
        fields = [f"task: {pose.task}"] if pose.task else []
        fields.append(f"position: [{', '.join(f'{value:g}' for value in pose.position)}]")
        fields.append(f"tolerance_m: {pose.tolerance_m:g}")
        if pose.gripper_m is not None:
            fields.append(f"gripper_m: {pose.gripper_m:g}")
        lines.append(f"  - {{{', '.join(fields)}}}\n")
    return "start_poses:\n" + "".join(lines)


def _pose(task: str | None, rows: NDArray[np.float64]) -> StartPose:
    middle = rows[:, :3].mean(axis=0).round(3)
    spread = float(np.linalg.norm(rows[:, :3] - middle, axis=1).max())
    tolerance = max(LEAST_TOLERANCE_M, math.ceil(1e3 * WIDENED * spread - 1e-6) / 1e3)
    openings = rows[:, 3]
    known = float(np.ptp(openings)) < SAME_OPENING_M
    x, y, z = (float(value) + 0.0 for value in middle)
    gripper_m = max(0.0, round(float(openings.mean()), 3)) if known else None
    return StartPose(task=task or None, position=(x, y, z), tolerance_m=tolerance, gripper_m=gripper_m)


def _is_same(one: StartPose, other: StartPose) -> bool:
    apart = np.linalg.norm(np.subtract(one.position, other.position))
    return bool(apart <= SAME_M) and one.gripper_m == other.gripper_m
