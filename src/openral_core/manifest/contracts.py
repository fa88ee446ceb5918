"""The numbers that go into a policy and come out of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from openral_core.schema import Count, Fault, Finite, Many, Positive, Schema, Vector3, Word, raise_faults
from openral_core.vocabulary import ControlMode, Representation, StateLayout

BOUND_LAYOUTS = ("rc365", "human300_16d", "libero_eef8d")
"""Layouts that name frames and joints of the robot, and so need bindings."""
LAYOUT_DIMS: dict[str, int] = {
    "ee_pos3_gripper1": 4,
    "libero_eef8d": 8,
    "smolvla_9d": 9,
    "ee_pos3_rot6_gripper1": 10,
    "human300_16d": 16,
}
"""Length of the layouts whose name or definition fixes it."""


class StateBindings(Schema):
    """Which of the robot's frames and joints a state layout reads."""

    eef_frame: Word
    """tf frame of the end effector."""
    base_frame: Word
    """tf frame of the robot's base."""
    world_frame: Word = "map"
    """tf frame that positions are given in."""
    gripper_qpos_joints: Many[Word] = ()
    """Joints whose positions [m] the layout contains."""
    quaternion_convention: Literal["xyzw", "wxyz"] = "xyzw"
    """Order of quaternion numbers in the vector."""


class StateContract(Schema):
    """The proprioception vector."""

    layout: StateLayout | None = None
    """What the numbers are; absent: the usual layout of this embodiment and length."""
    dim: Count | None = None
    """Length of the vector."""
    history: bool = False
    """The checkpoint takes the vector of each instant that `image_preprocessing.history` names, (T, D)."""
    bindings: StateBindings | None = None
    """Needed for the layouts in `BOUND_LAYOUTS`, refused for the others."""

    @model_validator(mode="after")
    def _is_consistent(self) -> StateContract:
        faults = []
        if self.layout in BOUND_LAYOUTS and self.bindings is None:
            faults.append(
                Fault("bindings", f"is missing for layout {self.layout}", "name eef_frame and base_frame")
            )
        if self.bindings is not None and self.layout not in BOUND_LAYOUTS:
            faults.append(Fault("bindings", f"means nothing for layout {self.layout}", "remove it"))
        fixed = LAYOUT_DIMS.get(self.layout or "")
        if fixed is not None and self.dim is not None and self.dim != fixed:
            faults.append(
                Fault("dim", f"{self.dim}, but {self.layout} has {fixed} numbers", f"write {fixed}")
            )
        if self.layout == "joint_positions" and self.dim is None:
            faults.append(
                Fault("dim", f"is missing for layout {self.layout}", "write how many joints robot.yaml has")
            )
        raise_faults(faults)
        return self


class ActionSlot(Schema):
    """A run of numbers of the action vector with one meaning."""

    range: tuple[int, int] = Field(strict=False)
    """[first, last + 1] in the action vector."""
    control_mode: ControlMode
    """How these numbers are commanded."""
    discard: bool = False
    """The robot has no use for these numbers."""
    ee: Word | None = None
    """End effector they drive."""
    frame: Word | None = None
    """Frame of a Cartesian command."""
    joint_names: Many[Word] | None = None
    """Joints they drive, in their order."""


class ActionContract(Schema):
    """One row of a chunk."""

    dim: Count
    """Length of the row."""
    representation: Representation | None = None
    """What the numbers mean; absent: taken to be the scene's, if the length agrees."""
    control_hz: Positive | None = None
    """[Hz] rate of the demonstrations the checkpoint learned from."""
    step_m: Positive | None = None
    """[m] end-effector displacement of a command of 1, for delta representations."""
    device_tolerance: Positive | None = None
    """By how much a number of an action may differ between a CPU and a GPU, for the same observation and seed, in the
    checkpoint's own units; absent: nobody measured it."""
    slots: Many[ActionSlot] | None = None
    """Tiles [0, dim) without gap or overlap."""

    @model_validator(mode="after")
    def _slots_tile(self) -> ActionContract:
        position = 0
        for index, slot in enumerate(self.slots or ()):
            first, end = slot.range
            if first != position or end <= first:
                what = f"[{first}, {end}] leaves a gap, overlaps or is empty"
                raise_faults([Fault(f"slots.{index}.range", what, f"begin at {position} and end after it")])
            position = end
        if self.slots is not None and position != self.dim:
            raise_faults(
                [Fault("slots", f"cover [0, {position}), not [0, {self.dim})", "tile the whole action")]
            )
        return self


FARTHEST_M = 20.0
"""[m] from the origin beyond which a corner of a box is one of millimetres or centimetres."""


class Box(Schema):
    """An axis-aligned box."""

    low: Vector3
    """[m]"""
    high: Vector3
    """[m]"""

    @model_validator(mode="after")
    def _is_a_place(self) -> Box:
        if any(low >= high for low, high in zip(self.low, self.high, strict=True)):
            raise_faults(
                [Fault("high", f"{self.high} is not above low {self.low}", "write low < high on each axis")]
            )
        raise_faults(
            [
                Fault(f"{name}.{axis}", f"{at:g} m is out of every arm's reach", "write metres")
                for name, corner in (("low", self.low), ("high", self.high))
                for axis, at in enumerate(corner)
                if abs(at) > FARTHEST_M
            ]
        )
        return self


class SkillEnvelope(Schema):
    """Limits that the skill's makers ask for; a scene that allows more is refused."""

    max_ee_speed_m_s: Positive | None = None
    """[m/s]"""
    workspace: Box | None = None
    """[m] in the world frame of the scene."""


class StartPose(Schema):
    """Where the hand stood when the demonstrations of a task began."""

    task: Word | None = None
    """A task's id; absent: every task that has no entry of its own."""
    position: Vector3
    """[m] end effector in the world frame of the scene."""
    tolerance_m: Positive = 0.02
    """[m] distance from there at which the skill still begins well."""
    gripper_m: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """[m] distance between the fingers; absent: any."""


StartingPose = dict[Word, Finite]
"""Joint name -> position [rad] or [m]."""
