"""Parts of a scene: cameras, world and action contract."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, StringConstraints, model_validator

from openral_core.schema import Count, Fault, Finite, Many, Positive, Schema, Word, raise_faults
from openral_core.simulator_options import option_faults
from openral_core.vocabulary import ACTION_DIMS, Representation

Pixels = Annotated[int, Field(gt=0, le=4096)]
"""[px] side of a rendered image; OpenGL without a GPU does not support much larger ones."""
MAX_HORIZON_S = 5.0
"""[s] largest length of a chunk of actions that a scene may allow."""


MOST_PERIODS = 1e6
"""Periods of a rate from which on another one is too slow to be meant, as a camera that never comes to its picture."""
LONGEST_STEP_M, LONGEST_STEP_RAD = 0.5, 3.2
"""[m] and [rad] displacements in one control step beyond which a value is assumed to be in millimetres or degrees."""


def is_divisor(rate_hz: float, of_hz: float) -> bool:
    """Return whether a rate [Hz] divides another one, so that its period is a whole number of the other's periods."""
    ratio = of_hz / rate_hz
    return 0.999 <= ratio < MOST_PERIODS and abs(ratio - round(ratio)) <= 1e-6 * ratio


class SceneCamera(Schema):
    """One camera; in YAML a bare name stands for one with all defaults."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=60)]
    """Name in the simulator, and in `/openral/cameras/<name>/image_raw`."""
    feature_key: Word
    """Name by which skills request it; default: observation.images.camera<N>, with N from 1."""
    width: Count
    """[px] default: `observation_width`."""
    height: Count
    """[px] default: `observation_height`."""
    rate_hz: Positive = 20.0
    """[Hz] rate of the colour images."""
    depth: bool = False
    """Whether depth images are rendered and published in addition to the colour images."""
    depth_rate_hz: Positive | None = None
    """[Hz] rate of the depth images; absent: that of the colour images."""

    @property
    def depth_every(self) -> int:
        """Number of colour images from one depth image to the next."""
        return round(self.rate_hz / (self.depth_rate_hz or self.rate_hz))

    @model_validator(mode="after")
    def _depth_fits(self) -> SceneCamera:
        if self.depth_rate_hz is None:
            return self
        what = f"{self.depth_rate_hz:g} Hz does not divide rate_hz {self.rate_hz:g}"
        faults = [Fault("depth_rate_hz", "means nothing without depth", "write depth: true")]
        if self.depth:
            fits = is_divisor(self.depth_rate_hz, self.rate_hz)
            faults = [] if fits else [Fault("depth_rate_hz", what, "choose a divisor")]
        raise_faults(faults)
        return self


class SceneWorld(Schema):
    """The simulated or real world."""

    id: Word
    """Scene id, which is compared with a skill's `evaluated_tasks`."""
    backend: Literal[
        "mujoco", "mujoco_mjx", "pybullet", "sapien", "isaacsim", "coppeliasim", "genesis", "mock"
    ]
    """The simulator."""
    observation_height: Pixels = 256
    """[px] height of rendered images."""
    observation_width: Pixels = 256
    """[px] width of rendered images."""
    cameras: Many[SceneCamera] = Field(min_length=1)
    """All cameras; the reward monitor uses the first one."""
    image_origin: Literal["upper_left", "lower_left"] = "upper_left"
    """Position of the first row in the benchmark's own images, to which a skill's flips refer. Images of openral are
    upright. Those of OpenGL begin with the bottom row, and robosuite and LIBERO keep this in observations and data
    sets."""
    backend_options: dict[str, JsonValue] = Field(default_factory=dict)
    """Options of the backend: family, tasks, init_id, render_profile…, see `openral_core.simulator_options`."""

    @model_validator(mode="before")
    @classmethod
    def _fill_cameras(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not isinstance(data.get("cameras"), (list, tuple)):
            return data
        sizes = (data.get(f"observation_{side}", 256) for side in ("width", "height"))
        width, height = (size if isinstance(size, int) and size > 0 else 256 for size in sizes)
        cameras = []
        for index, camera in enumerate(data["cameras"], start=1):
            fields = {"name": camera} if isinstance(camera, str) else camera
            if isinstance(fields, dict):
                key = f"observation.images.camera{index}"
                fields = {"feature_key": key, "width": width, "height": height, **fields}
            cameras.append(fields)
        return {**data, "cameras": cameras}

    @model_validator(mode="after")
    def _options_fit(self) -> SceneWorld:
        raise_faults(
            [
                Fault(f"backend_options.{key}", what, fix)
                for key, what, fix in option_faults(self.backend_options)
            ]
        )
        return self

    @model_validator(mode="after")
    def _cameras_fit(self) -> SceneWorld:
        faults = []
        for name in ("name", "feature_key"):
            values = [getattr(camera, name) for camera in self.cameras]
            if len(values) != len(set(values)):
                faults.append(Fault("cameras", f"two have the same {name}", f"give each its own {name}"))
        size = (self.observation_width, self.observation_height)
        faults += [
            Fault(
                f"cameras.{index}",
                f"{camera.width}x{camera.height}, rendered {size[0]}x{size[1]}",
                "make them equal",
            )
            for index, camera in enumerate(self.cameras)
            if (camera.width, camera.height) != size
        ]
        raise_faults(faults)
        return self


class SceneAction(Schema):
    """The action contract that the scene offers."""

    representation: Representation
    """Meaning of the values of an action."""
    dim: Count
    """A, length of one action."""
    low: Many[Finite]
    """(A,) least values, in the action's own units."""
    high: Many[Finite]
    """(A,) greatest values."""
    step_m: Positive | None = None
    """[m] end-effector displacement by a command of 1; required for delta_ee representations."""
    step_rad: Positive | None = None
    """[rad] displacement of a joint by a command of 1; required for delta_joints representations. In scenes of family
    mjcf also the rotation of the hand by a command of 1; absent: 0.5."""
    counts_from: Literal["set_point", "hand"] = "set_point"
    """Origin of a displacement of the hand: the controller's set point, so that displacements add up, or the present
    position of the hand, as in robosuite's OSC_POSE, so that a lagging hand moves only a part of the sum. In the latter
    case the workspace is checked step by step, since the sum does not tell where a chunk ends."""
    stiffness: Positive | None = None
    """[1/s²] stiffness of the critically damped spring that moves the hand, where displacements count from the hand;
    150 in robosuite's OSC_POSE. Scenes of family mjcf and real arms imitate this spring; absent: they complete each
    displacement within its step. Simulators with their own controller ignore it."""
    gripper: Literal["between", "sign"] = "between"
    """Meaning of the gripper command in scenes of family mjcf and of real arms: a position of the fingers from -1
    (open) to 1 (closed); or only its sign, which opens or closes them, as in robosuite. Simulators with their own
    controller ignore it."""
    max_age_s: Positive = 0.5
    """[s] largest age of the observation of a chunk; a later chunk is rejected."""
    max_horizon_s: Annotated[float, Field(gt=0.0, le=MAX_HORIZON_S)] = MAX_HORIZON_S
    """[s] largest length of a chunk; one that is longer than this or than its skill announced is rejected. It bounds
    the time for which the arm moves on after its policy has failed."""

    @model_validator(mode="after")
    def _bounds_fit(self) -> SceneAction:
        faults = [
            Fault(name, f"has {len(values)} numbers for dim {self.dim}", f"write {self.dim}")
            for name, values in (("low", self.low), ("high", self.high))
            if len(values) != self.dim
        ]
        fixed = ACTION_DIMS.get(self.representation, self.dim)
        if self.dim != fixed:
            what = f"{self.dim}, but an action of {self.representation} has {fixed} numbers"
            faults.insert(0, Fault("dim", what, f"write {fixed}"))
        if not faults and any(low >= high for low, high in zip(self.low, self.high, strict=True)):
            faults.append(Fault("high", "is not above low", "write low < high for each number"))
        if self.representation.startswith("delta_ee") and self.step_m is None:
            faults.append(Fault("step_m", f"is missing for {self.representation}", "add it, in metres"))
        if self.representation.startswith("delta_joints") and self.step_rad is None:
            faults.append(Fault("step_rad", f"is missing for {self.representation}", "add it, in radians"))
        if self.stiffness is not None and self.counts_from != "hand":
            what = "is of displacements that count from the hand"
            faults.append(Fault("stiffness", what, "add counts_from: hand"))
        raise_faults(faults or self._step_faults())
        return self

    def _step_faults(self) -> list[Fault]:
        """Return faults for `step_m` and `step_rad` if the largest command is implausibly far for one control step."""
        faults, rows = [], list(zip(self.low, self.high, strict=True))
        for name, step, longest, used, unit, fix in (
            ("step_m", self.step_m, LONGEST_STEP_M, rows[:3], "m", "write metres, not millimetres"),
            ("step_rad", self.step_rad, LONGEST_STEP_RAD, rows, "rad", "write radians, not degrees"),
        ):
            farthest = (step or 0.0) * max(max(abs(low), abs(high)) for low, high in used)
            if farthest > longest:
                what = f"{step:g} leads {farthest:g} {unit} in one control step, which nothing follows"
                faults.append(Fault(name, what, fix))
        return faults

    def share(self, dt: float) -> float:
        """Return the share of a displacement that the hand moves within a control step of `dt` [s].

        With a spring and constant commands, the speed of the hand is sqrt(stiffness) / 2 times the displacement.
        """
        return 1.0 if self.stiffness is None else min(1.0, math.sqrt(self.stiffness) * dt / 2.0)
