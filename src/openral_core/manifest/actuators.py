"""What a skill must be able to move, and how it speaks to it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from openral_core.manifest.sensors import SensorRequirement
from openral_core.schema import Count, Fault, Many, Schema, Word, raise_faults
from openral_core.vocabulary import ControlMode, GripperConvention

GRIPPER_MODES = ("gripper_binary", "gripper_position")
CARTESIAN_MODES = ("cartesian_pose", "cartesian_delta", "cartesian_twist")


class ControlSemantics(Schema):
    """How the numbers of one actuator are meant."""

    mode: Literal["absolute", "delta"]
    """absolute: a set point; delta: a displacement from the present position."""
    gripper_convention: GripperConvention | None = None
    """Needed for grippers, refused elsewhere."""
    joint_order: Many[Word] | None = None
    """Joint names in the order of the action vector."""
    reference_frame: Word | None = None
    """Frame of a Cartesian command; needed there, refused elsewhere."""


class ActuatorRequirement(Schema):
    """One group of actuators that the skill drives."""

    kind: ControlMode
    """How the actuator is commanded."""
    n_dof: Count | None = None
    """How many numbers it takes; for a known embodiment, the robot's own."""
    vla_action_key: Word | None = None
    """Name of this part of the action in the checkpoint."""
    control_mode_semantics: ControlSemantics
    """How the numbers are meant."""

    @model_validator(mode="after")
    def _semantics_fit_kind(self) -> ActuatorRequirement:
        semantics = self.control_mode_semantics
        rules = (
            ("gripper_convention", semantics.gripper_convention, self.kind in GRIPPER_MODES),
            ("reference_frame", semantics.reference_frame, self.kind in CARTESIAN_MODES),
        )
        faults = []
        for name, value, wanted in rules:
            if wanted and value is None:
                faults.append(
                    Fault(f"control_mode_semantics.{name}", f"is missing for {self.kind}", "add it")
                )
            if value is not None and not wanted:
                faults.append(
                    Fault(f"control_mode_semantics.{name}", f"means nothing for {self.kind}", "remove it")
                )
        raise_faults(faults)
        return self


class EmbodimentExtra(Schema):
    """A body that is on no list, described by the skill itself."""

    sensors: Many[SensorRequirement] = Field(min_length=1)
    """What the body sees with."""
    actuators: Many[ActuatorRequirement] = Field(min_length=1)
    """What the body moves; `n_dof` and `vla_action_key` are needed here."""

    @model_validator(mode="after")
    def _actuators_are_complete(self) -> EmbodimentExtra:
        raise_faults(
            [
                Fault(f"actuators.{index}.{name}", "is missing for a custom embodiment", "add it")
                for index, actuator in enumerate(self.actuators)
                for name in ("n_dof", "vla_action_key")
                if getattr(actuator, name) is None
            ]
        )
        return self
