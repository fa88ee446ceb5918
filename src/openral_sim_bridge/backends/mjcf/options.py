"""Options of scenes of family `mjcf`: model, tasks, initial states and gripper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, model_validator

from openral_core.files.yaml_document import Document
from openral_core.scene import DeployScene
from openral_core.schema import (
    Fault,
    Finite,
    Interval,
    Many,
    Schema,
    Word,
    raise_faults,
    raise_manifest_error,
)
from openral_sim_bridge.backends.mjcf.conditions import SceneCondition

NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class GripperOptions(Schema):
    """How the fingers move. Names are those of robot.yaml, or of the model."""

    joints: Many[Word] = Field(min_length=1)
    """Joints of the fingers."""
    closed: Many[Finite] | None = None
    """[m] or [rad] each joint when closed; absent: the other end than `open`, or the one nearer to zero."""
    open: Many[Finite] | None = None
    """[m] or [rad] each joint when open; absent: the end of its range that is further from `closed`."""
    actuators: dict[Word, Interval] = Field(default_factory=dict)
    """Actuator -> its control when closed and when open; absent: position actuators on `joints`."""


class Placement(Schema):
    """Where a free body may lie at the start. What is absent stays as in the home pose."""

    x: Interval | None = None
    """[m] range in the world."""
    y: Interval | None = None
    """[m]"""
    z: Interval | None = None
    """[m]"""
    yaw: Interval | None = None
    """[rad] range of a turn about the vertical, added to the body's orientation in the home pose."""

    @model_validator(mode="after")
    def _ranges_are_ordered(self) -> Placement:
        ranges = {name: getattr(self, name) for name in ("x", "y", "z", "yaw")}
        raise_faults(
            [
                Fault(name, f"[{r[0]:g}, {r[1]:g}] is empty", "write [low, high]")
                for name, r in ranges.items()
                if r is not None and r[0] > r[1]
            ]
        )
        return self


class MjcfOptions(Schema):
    """`backend_options` of a scene of family `mjcf`."""

    family: Literal["mjcf"]
    """This simulator."""
    model: Word
    """MJCF file, beside the scene's or by a path from there."""
    tasks: Many[Word] = Field(min_length=1)
    """Names of tasks; the first is the one that the world starts in."""
    success: dict[Word, SceneCondition]
    """Task -> when it is done."""
    home: Word | dict[Word, Finite] = "home"
    """Keyframe of the model, or joint -> position [rad] or [m] with all else as in the model."""
    keyframes: Word | None = None
    """Beginning of the names of keyframes: initial state i is the keyframe of this name and i, such as init1000, in
    place of `home`, `starts` and `place`."""
    starts: dict[Word, Word] = Field(default_factory=dict)
    """Task -> keyframe that it starts from in place of `home`."""
    place: dict[Word, Placement] = Field(default_factory=dict)
    """Free body -> where it may lie; initial state i is drawn with the seed i."""
    apart_m: NotNegative = 0.0
    """[m] least distance on the table between two placed bodies."""
    settle_s: NotNegative = 0.0
    """[s] the world runs with the arm held before an episode begins, for things to come to rest."""
    robot_root: Word | None = None
    """Body that the robot hangs from; absent: the topmost body above `base_frame`."""
    names: dict[Word, Word] = Field(default_factory=dict)
    """Name in robot.yaml -> name in the model, for links, joints and the hand's frame, where they differ."""
    gripper: GripperOptions | None = None
    """Needed where the actions have a gripper."""
    mocap: Word | None = None
    """Mocap body to which the hand is welded, where that drags the arm in place of actuators."""
    hidden_groups: Many[Annotated[int, Field(ge=0, le=5)]] = ()
    """Geometry groups that are not drawn, such as one of collision shapes; MuJoCo itself leaves out 3, 4 and 5."""
    render_profile: Word = "published"
    """A name in `openral_sim_bridge.rendering.renderer.PROFILES`."""
    init_id: Annotated[int, Field(ge=0)] = 0
    """Initial state of a deployment."""

    @model_validator(mode="after")
    def _tasks_are_judged(self) -> MjcfOptions:
        raise_faults(
            [
                Fault("success", f"says nothing about task '{task}'", "add a condition for it")
                for task in self.tasks
                if task not in self.success
            ]
            + [
                Fault(f"starts.{task}", "is no task of this scene", "name one of `success`")
                for task in self.starts
                if task not in self.success
            ]
        )
        return self


def read_options(scene: DeployScene) -> tuple[MjcfOptions, Document]:
    """Validate a scene's options.

    Returns:
        The options, and the document whose faults point at their lines.

    Raises:
        ManifestError: the options are wrong; the text has one line for each fault, with file and line.
    """
    document = section_of(scene)
    try:
        return MjcfOptions.model_validate(scene.scene.backend_options), document
    except ValidationError as error:
        raise_manifest_error(MjcfOptions, document, error)


def section_of(scene: DeployScene) -> Document:
    """Return the `backend_options` of a scene as a document."""
    if scene.source is None:
        return Document(Path(f"{scene.scene.id}.yaml"), scene.scene.backend_options)
    return scene.source.section("scene", "backend_options")
