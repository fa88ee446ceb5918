"""The sections of the other kinds: reward models, detectors, wrapped ROS interfaces, playbooks."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from openral_core.schema import Count, Fault, Interval, Many, Positive, Schema, Unit, Word, raise_faults
from openral_core.vocabulary import Leaves


class Reward(Schema):
    """How a reward model is fed and read."""

    progress_range: Interval = (0.0, 1.0)
    """[low, high] of the raw progress output."""
    success_threshold: Unit = 0.5
    """At or above it a reading counts as success."""
    preference: bool = False
    """The model can also compare two rollouts."""
    frame_window_s: Positive
    """[s] how far back the frames of one reading go."""
    target_fps: Positive
    """[Hz] rate at which frames are kept."""
    num_bins: Count = 100
    """Bins of a progress head that classifies."""
    instruction_required: bool = True
    """The model needs the task's words."""
    check_floor: Unit = 0.4
    """Below it a reading is no reason to look closer; at most `success_threshold`."""
    plateau_window_s: Positive = 3.0
    """[s] progress is flat if it stays within the tolerance for this long."""
    plateau_tolerance: Unit = 0.05
    """Share of the progress range that counts as no change, 0 to 1."""
    default_patience_s: Positive = 30.0
    """[s] without progress before an attempt is given up."""

    @model_validator(mode="after")
    def _is_ordered(self) -> Reward:
        faults = []
        if self.check_floor > self.success_threshold:
            faults.append(Fault("check_floor", "is above success_threshold", "lower it"))
        if self.progress_range[0] >= self.progress_range[1]:
            faults.append(Fault("progress_range", f"{self.progress_range} is empty", "write [low, high]"))
        raise_faults(faults)
        return self


class Detector(Schema):
    """How an object detector is fed and read."""

    labels: Many[Word] = Field(min_length=1)
    """Names of the classes."""
    input_size: Annotated[tuple[Count, Count], Field(strict=False)] = (640, 640)
    """[height, width] in px."""
    score_threshold: Unit = 0.5
    """Detections below it are dropped, 0 to 1."""
    engine: Literal["mini", "rtdetr_onnx", "vlm_sidecar", "zeroshot_hf"]
    """The code that runs it; mini is ours, in process."""
    mode: Literal["continuous", "on_demand"] = "continuous"
    """continuous: every frame; on_demand: when asked."""
    max_side: Count | None = None
    """[px] longer images are made smaller first."""


class RosIntegration(Schema):
    """A ROS 2 interface offered as a skill."""

    package: Word
    """ROS package of the interface's type."""
    interface_type: Word
    """Such as nav2_msgs/action/NavigateToPose."""
    interface_name: Annotated[str, StringConstraints(pattern=r"^/[A-Za-z0-9_/]+$", max_length=200)]
    """Absolute name of the action or service."""
    result_trajectory_field: Word | None = None
    """Field of the result that holds a trajectory to execute."""
    default_goal_json: str = Field(max_length=20_000)
    """JSON object with the goal's defaults."""
    ros_dependencies: Many[Word] = ()
    """ROS packages that must be installed."""
    goal_builder: Literal["joint", "pose", "look_at"] | None = None
    """What fills the goal in from the request."""

    @field_validator("default_goal_json")
    @classmethod
    def _is_json_object(cls, value: str) -> str:
        try:
            goal = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise ValueError("not JSON; write a JSON object such as '{}'") from error
        if not isinstance(goal, dict):
            raise ValueError("not a JSON object; write one such as '{}'")
        return value


class Playbook(Schema):
    """A written procedure that the reasoner follows."""

    trigger: Word
    """When to follow it, in words for a language model."""
    orders: Many[Word] = ()
    """Sentences of the operator that it answers, for the offline planner."""
    failures: Many[Word] = ()
    """Tasks in words; when one of them has failed, the steps are tried in its place."""
    body_uri: Word
    """local:// file with the text."""
    composes_tools: Many[Word] = Field(min_length=1)
    """Tools and skills it uses."""
    done_predicate: Word
    """How to tell that it is finished."""
    max_steps: Count
    """Tool calls after which it is given up."""


class TaskExamples(Schema):
    """A task that the skill was trained for, and words that ask for it."""

    task: Word
    """Task id of the benchmark or data set, such as drawer-open-v3."""
    phrases: Many[Word] = Field(min_length=1)
    """Example instructions, the first of them the one it was trained with most."""
    leaves: Leaves | None = None
    """What is in the hand when it is done; absent: what the skill's own `leaves` says."""
