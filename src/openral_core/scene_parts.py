"""The parts of a scene: its cameras, its world, the actions it takes."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, StringConstraints, model_validator

from openral_core.schema import Count, Fault, Finite, Many, Positive, Schema, Word, raise_faults
from openral_core.simulator_options import option_faults
from openral_core.vocabulary import Representation

Pixels = Annotated[int, Field(gt=0, le=4096)]
"""[px] side of a picture; OpenGL without a GPU draws none that is much larger."""
MAX_HORIZON_S = 5.0
"""[s] no chunk of actions is longer, whatever a scene or a skill says."""


LONGEST_STEP_M, LONGEST_STEP_RAD = 0.5, 3.2
"""[m] and [rad] that nothing is led in one control step; what is longer is one of millimetres or degrees."""


class SceneCamera(Schema):
    """One camera; in YAML a bare name stands for one with all defaults."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=60)]
    """Name in the simulator, and in `/openral/cameras/<name>/image_raw`."""
    feature_key: Word
    """Name a skill asks for; default observation.images.camera<N>, counted from 1."""
    width: Count
    """[px] default `observation_width`."""
    height: Count
    """[px] default `observation_height`."""
    rate_hz: Positive = 20.0
    """[Hz]"""
    depth: bool = False
    """Depth images are drawn and published beside the colour images."""
    depth_rate_hz: Positive | None = None
    """[Hz] rate of the depth images; absent: that of the colour images."""

    @property
    def depth_every(self) -> int:
        """Colour images from one depth image to the next."""
        return round(self.rate_hz / (self.depth_rate_hz or self.rate_hz))

    @model_validator(mode="after")
    def _depth_fits(self) -> SceneCamera:
        if self.depth_rate_hz is None:
            return self
        ratio = self.rate_hz / self.depth_rate_hz
        what = f"{self.depth_rate_hz:g} Hz does not divide rate_hz {self.rate_hz:g}"
        faults = [Fault("depth_rate_hz", "means nothing without depth", "write depth: true")]
        if self.depth:
            fits = ratio > 0.999 and abs(ratio - round(ratio)) <= 1e-6 * ratio
            faults = [] if fits else [Fault("depth_rate_hz", what, "choose a divisor")]
        raise_faults(faults)
        return self


class SceneWorld(Schema):
    """The simulated (or real) world."""

    id: Word
    """Scene id, compared with a skill's `evaluated_tasks`."""
    backend: Literal[
        "mujoco", "mujoco_mjx", "pybullet", "sapien", "isaacsim", "coppeliasim", "genesis", "mock"
    ]
    """The simulator."""
    observation_height: Pixels = 256
    """[px] of rendered images."""
    observation_width: Pixels = 256
    """[px]"""
    cameras: Many[SceneCamera] = Field(min_length=1)
    """All that can be seen; the first is what the reward monitor watches."""
    image_origin: Literal["upper_left", "lower_left"] = "upper_left"
    """Where the first row of this benchmark's own images is; a skill's flips count from there. Ours are upright;
    OpenGL's lie bottom row first, and robosuite and LIBERO keep them so in observations and data sets."""
    backend_options: dict[str, JsonValue] = Field(default_factory=dict)
    """What the backend reads: family, tasks, init_id, render_profile…, see `openral_core.simulator_options`."""

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
    """What one action means."""
    dim: Count
    """A, length of one action."""
    low: Many[Finite]
    """(A,) least value, in the action's own units."""
    high: Many[Finite]
    """(A,) greatest value."""
    step_m: Positive | None = None
    """[m] end-effector displacement of a command of 1; needed for delta representations."""
    step_rad: Positive | None = None
    """[rad] displacement of a joint by a command of 1; needed for delta_joints representations. In scenes of family
    mjcf also of the hand; absent: 0.5."""
    counts_from: Literal["set_point", "hand"] = "set_point"
    """What a displacement of the hand is added to: the controller's set point, so that displacements add up; or the
    hand where it is, as robosuite's OSC_POSE does, so that a hand that lags goes a part of the way only. Then the
    workspace is judged step by step, for the sum says nothing about where a chunk ends."""
    stiffness: Positive | None = None
    """[1/s²] of the critically damped spring that draws the hand there, where displacements count from the hand: 150 in
    robosuite's OSC_POSE. A simulator with a controller of its own does not look at it; scenes of family mjcf and real
    arms lead the hand as that spring would. Absent: they lead it to each displacement within the step."""
    gripper: Literal["between", "sign"] = "between"
    """What the gripper's number says in scenes of family mjcf and to real arms: where between open, -1, and closed, 1,
    the fingers are led; or by its sign alone whether they open or close, as in robosuite. A simulator with a
    controller of its own does not look at it."""
    max_age_s: Positive = 0.5
    """[s] a chunk that answers an older observation is rejected."""
    max_horizon_s: Annotated[float, Field(gt=0.0, le=MAX_HORIZON_S)] = MAX_HORIZON_S
    """[s] a longer chunk is rejected; so is one that is longer than its skill announced. It bounds how long the arm
    moves on when its policy has died."""

    @model_validator(mode="after")
    def _bounds_fit(self) -> SceneAction:
        faults = [
            Fault(name, f"has {len(values)} numbers for dim {self.dim}", f"write {self.dim}")
            for name, values in (("low", self.low), ("high", self.high))
            if len(values) != self.dim
        ]
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
        """Return what is wrong with how far the greatest command leads within one control step."""
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
        """Return the share of a displacement that the hand goes within a control step of `dt` [s].

        On a spring a hand that is told the same again and again goes at half its rate, sqrt(stiffness) / 2, times the
        displacement.
        """
        return 1.0 if self.stiffness is None else min(1.0, math.sqrt(self.stiffness) * dt / 2.0)
