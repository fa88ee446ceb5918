"""The description of a robot: body, joints, end effectors, sensors, capabilities and limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PrivateAttr, StringConstraints, model_validator

from openral_core.errors import ManifestError, nearest
from openral_core.files.named_files import find_file
from openral_core.files.yaml_document import Document, read_document
from openral_core.hardware.urdf import joints_in
from openral_core.schema import Count, Fault, Interval, Many, Positive, Schema, Word, raise_faults, validate
from openral_core.vocabulary import ControlMode, Embodiment, Modality

FARTHEST_RAD, FASTEST_RAD_S = 25.2, 50.0
"""[rad] and [rad/s] beyond which a rotary joint's limit is assumed to be in degrees: 4 turns, and 8 turns a second."""
WIDEST_M, FASTEST_M_S = 2.0, 20.0
"""[m] and [m/s] beyond which an opening or the speed of a hand is assumed to be in millimetres."""
ROBOT_PATTERNS = ("robots/{}/robot.yaml",)


class Joint(Schema):
    """One joint, named as in the URDF and in `/joint_states`."""

    name: Word
    """As in the URDF."""
    joint_type: Literal["revolute", "continuous", "prismatic", "fixed"]
    """As in the URDF."""
    parent_link: Word
    """Parent link, on the side of the base."""
    child_link: Word
    """Child link, which the joint moves."""
    role: Literal["arm", "gripper", "base", "head", "leg", "passive"] = "arm"
    """Part of the body that it belongs to."""
    position_limits: Interval | None = None
    """Range [rad], or [m] for prismatic joints; absent for continuous and fixed ones."""
    velocity_limit: Positive | None = None
    """[rad/s] or [m/s]"""
    acceleration_limit: Positive | None = None
    """[rad/s²] or [m/s²]; needed for arms that a robot bridge moves."""
    jerk_limit: Positive | None = None
    """[rad/s³] or [m/s³]; needed for arms that a robot bridge moves."""
    effort_limit: Positive | None = None
    """[Nm] or [N]"""

    @model_validator(mode="after")
    def _limits_fit(self) -> Joint:
        limited = self.joint_type in ("revolute", "prismatic")
        if limited and self.position_limits is None:
            raise_faults(
                [Fault("position_limits", f"is missing for a {self.joint_type} joint", "add [low, high]")]
            )
        if self.position_limits is not None and self.position_limits[0] >= self.position_limits[1]:
            raise_faults([Fault("position_limits", f"{self.position_limits} is empty", "write [low, high]")])
        if self.joint_type in ("revolute", "continuous"):
            raise_faults(self._unit_faults())
        return self

    def _unit_faults(self) -> list[Fault]:
        """Return faults for the limits of a rotary joint that are implausible in radians."""
        faults = []
        farthest = max(map(abs, self.position_limits or (0.0,)))
        if farthest > FARTHEST_RAD:
            what = f"{farthest:g} rad is {farthest / 6.2832:.0f} turns"
            faults.append(Fault("position_limits", what, "write radians, not degrees"))
        if self.velocity_limit is not None and self.velocity_limit > FASTEST_RAD_S:
            what = f"{self.velocity_limit:g} rad/s is {self.velocity_limit / 6.2832:.0f} turns a second"
            faults.append(Fault("velocity_limit", what, "write radians a second, not degrees"))
        return faults


class EndEffector(Schema):
    """An end effector of the robot."""

    name: Word
    """Unique in the robot."""
    kind: Literal["parallel_gripper", "suction", "dexterous_hand", "tool"]
    """How it holds objects."""
    frame: Word
    """tf frame whose pose is `/openral/ee_pose`."""
    gripper_joint: Word | None = None
    """Joint whose position in `/joint_states` is the opening [m]."""
    max_opening_m: Annotated[float, Field(gt=0, le=WIDEST_M)] | None = None
    """[m] distance between the open fingers."""
    min_opening_m: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """[m] distance between fingers that closed on nothing, as in `/joint_states`."""


class Intrinsics(Schema):
    """Intrinsic parameters of a pinhole camera."""

    width: Count
    """[px]"""
    height: Count
    """[px]"""
    fx: Positive
    """[px] horizontal focal length."""
    fy: Positive
    """[px] vertical focal length."""
    cx: Positive
    """[px] column of the principal point."""
    cy: Positive
    """[px] row of the principal point."""


class RobotSensor(Schema):
    """A sensor that belongs to the robot."""

    name: Word
    """Unique in the robot."""
    modality: Modality
    """What it measures."""
    frame_id: Word
    """tf frame of its data."""
    rate_hz: Positive
    """[Hz]"""
    vla_feature_key: Word | None = None
    """Name by which skills request it."""
    intrinsics: Intrinsics | None = None
    """Intrinsic parameters, for cameras only."""


class Capabilities(Schema):
    """What the robot can do."""

    supported_control_modes: Many[ControlMode] = Field(min_length=1)
    """Control modes in which it may be commanded."""
    flags: dict[Word, bool] = Field(default_factory=dict)
    """Capabilities such as has_vision or bimanual, with which a skill's `capabilities_required` is compared."""


class Safety(Schema):
    """Limits that no command may exceed."""

    max_ee_speed_m_s: Annotated[float, Field(gt=0, le=FASTEST_M_S)]
    """[m/s] largest speed of the end effector."""


class RobotDescription(Schema):
    """`robots/<name>/robot.yaml`."""

    schema_version: Literal["0.2"] = "0.2"
    """Version of this schema."""
    name: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]
    """Also the name of its folder."""
    description: Word
    """Text for people."""
    embodiment_kind: Literal[
        "humanoid", "manipulator", "bimanual", "quadruped", "mobile_base", "mobile_manipulator", "drone"
    ]
    """Kind of its body."""
    embodiment_tags: Many[Embodiment] = Field(min_length=1)
    """Names of this body in skills."""
    base_frame: Word
    """tf frame of its base."""
    world_frame: Word = "world"
    """tf frame of the scene."""
    joints: Many[Joint] = Field(min_length=1)
    """In the order of `/joint_states`."""
    end_effectors: Many[EndEffector] = Field(min_length=1)
    """End effectors; `/openral/ee_pose` is the pose of the first one."""
    sensors: Many[RobotSensor] = ()
    """Sensors that are fixed to the robot; cameras of a scene are in the scene."""
    capabilities: Capabilities
    """What it can do."""
    safety: Safety
    """Limits of its commands."""
    urdf: Word | None = None
    """File beside robot.yaml; absent: the simulator's model is the source."""
    _source: Document | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _names_agree(self) -> RobotDescription:
        names = [joint.name for joint in self.joints]
        faults = []
        if len(names) != len(set(names)):
            faults.append(Fault("joints", "a joint is named twice", "keep one"))
        faults += [
            Fault(
                f"end_effectors.{index}.gripper_joint", f"'{hand.gripper_joint}' is no joint", "name a joint"
            )
            for index, hand in enumerate(self.end_effectors)
            if hand.gripper_joint is not None and hand.gripper_joint not in names
        ]
        raise_faults(faults)
        return self

    @property
    def source(self) -> Document | None:
        """The file that it was read from, beside which its URDF lies; None: it was created by code."""
        return self._source

    @property
    def gripper_joint(self) -> Joint | None:
        """The first joint of role `gripper`, whose position is the opening of the fingers; None: there is none."""
        return next((joint for joint in self.joints if joint.role == "gripper"), None)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints in the order of `/joint_states`."""
        return tuple(joint.name for joint in self.joints)


def load_robot(name_or_path: str | Path) -> RobotDescription:
    """Load a robot by name (`sawyer`) or path; an absolute path may name the folder of its robot.yaml.

    Raises:
        NotFoundError: no such robot.
        ManifestError: the file is invalid, or its URDF is missing or lacks a joint; one line for each fault.
    """
    document = read_document(robot_file(name_or_path))
    robot = validate(RobotDescription, document)
    robot._source = replace(document, path=document.path.absolute())  # the same file by whatever path
    if faults := _urdf_faults(robot, document):
        raise ManifestError("\n".join(faults))
    return robot


def robot_file(name_or_path: str | Path) -> Path:
    """Return the file of a robot; see `load_robot`.

    Raises:
        NotFoundError: there is none.
    """
    folder = Path(name_or_path)
    ref = folder / "robot.yaml" if folder.is_absolute() and folder.is_dir() else name_or_path
    return find_file(ref, "robot", ROBOT_PATTERNS)


def _urdf_faults(robot: RobotDescription, document: Document) -> list[str]:
    """Return the faults of a robot's URDF. It need not have the joints of role `gripper`."""
    if robot.urdf is None:
        return []
    path = document.path.parent / robot.urdf
    if not path.is_file():
        close = nearest(path.name, [found.name for found in path.parent.glob("*.urdf")])
        fix = f"did you mean '{close}'?" if close else "put it there, or take the key out"
        return [document.fault(("urdf",), f"{robot.urdf} does not lie beside {document.path.name}", fix)]
    try:
        known = joints_in(path)
    except ValueError as error:
        return [document.fault(("urdf",), f"{robot.urdf} {error}", "write a URDF, or take the key out")]
    faults = []
    for index, joint in enumerate(robot.joints):
        if joint.role != "gripper" and joint.name not in known:
            close = nearest(joint.name, known)
            fix = f"did you mean '{close}'?" if close else f"use one of {', '.join(known) or 'none'}"
            what = f"'{joint.name}' is no joint of {robot.urdf}"
            faults.append(document.fault(("joints", index, "name"), what, fix))
    return faults
