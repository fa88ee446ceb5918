"""Success conditions of tasks in YAML: conditions on bodies and joints, combined by all, any and not.

An example:

success:
  lift-cube: {height: {of: cube, above: 0.1}}
  cube-in-tray:
    all:
      - inside: {of: cube, low: [-0.08, -0.08, 0.0], high: [0.08, 0.08, 0.06], frame: tray}
      - not: {touching: [cube, panda_leftfinger]}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import mujoco
import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, model_validator

from openral_core.schema import Fault, Finite, Many, Positive, Schema, Vector3, Word, raise_faults
from openral_sim_bridge.backends.mjcf.name_lookup import Naming

Judge = Callable[[Any], bool]
"""Returns whether a condition holds in a mujoco.MjData, on which mj_forward was called for its present state."""
_MOVING = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
Pair = Annotated[tuple[Word, Word], Field(strict=False)]


class Inside(Schema):
    """The middle of a thing lies in a box."""

    of: Word
    """Body or site."""
    low: Vector3
    """[m]"""
    high: Vector3
    """[m]"""
    frame: Word | None = None
    """Body or site in whose frame the box is; absent: the world's."""

    @model_validator(mode="after")
    def _has_room(self) -> Inside:
        if any(low > high for low, high in zip(self.low, self.high, strict=True)):
            raise_faults(
                [Fault("high", f"{self.high} is below low {self.low}", "write low <= high on each axis")]
            )
        return self


class Bounds(Schema):
    """A number lies above and below limits; one of them may be absent."""

    of: Word
    """What it is the number of."""
    above: Finite | None = None
    """Least value."""
    below: Finite | None = None
    """Greatest value."""

    @model_validator(mode="after")
    def _has_a_limit(self) -> Bounds:
        if self.above is None and self.below is None:
            raise_faults([Fault("of", "has no limit beside it", "add above, below or both")])
        if self.above is not None and self.below is not None and self.above >= self.below:
            what = f"is not below {self.below:g}"
            fix = f"no number lies above {self.above:g} and below {self.below:g}, write a lower one"
            raise_faults([Fault("above", what, fix)])
        return self

    def holds(self, value: float) -> bool:
        """Return whether a number lies within the limits, which are exclusive."""
        return (self.above is None or value > self.above) and (self.below is None or value < self.below)


class Near(Schema):
    """Two things are close."""

    of: Pair
    """Bodies or sites."""
    within_m: Positive
    """[m] greatest distance of their middles."""


class SceneCondition(Schema):
    """Exactly one of its keys."""

    model_config = ConfigDict(populate_by_name=False)

    all: Many[SceneCondition] | None = None
    """Every one holds."""
    any: Many[SceneCondition] | None = None
    """At least one holds."""
    not_: SceneCondition | None = Field(default=None, alias="not")
    """It does not hold."""
    inside: Inside | None = None
    """The middle of a thing lies in a box."""
    height: Bounds | None = None
    """[m] z in the world of the middle of a body or site."""
    joint: Bounds | None = None
    """[rad] or [m] position of a hinge or slide."""
    near: Near | None = None
    """Two things are close."""
    touching: Pair | None = None
    """Two bodies are in contact."""

    @model_validator(mode="after")
    def _says_one_thing(self) -> SceneCondition:
        given = sorted(self.model_fields_set)
        if len(given) != 1:
            found = f"has {len(given)} keys ({', '.join(given)})" if given else "is empty"
            fix = "write one of all, any, not, inside, height, joint, near, touching; join several by all or any"
            raise_faults([Fault(given[0] if given else "all", found, fix)])
        return self


class Conditions:
    """Compiles conditions to functions for one model, and adds a fault to `naming` for each unknown name."""

    def __init__(self, model: Any, naming: Naming) -> None:
        self._model = model
        self._naming = naming

    def judge(self, condition: SceneCondition, key: str) -> Judge:
        """Return the function that evaluates a condition; `key` is its place in the options, for faults."""
        [name] = condition.model_fields_set
        part = getattr(condition, name)
        key = f"{key}.{name.rstrip('_')}"
        if name in ("all", "any"):
            judges = [self.judge(each, f"{key}.{index}") for index, each in enumerate(part)]
            if name == "all":
                return lambda data: all(judge(data) for judge in judges)
            return lambda data: any(judge(data) for judge in judges)
        if name == "not_":
            inner = self.judge(part, key)
            return lambda data: not inner(data)
        leaves: dict[str, Callable[[Any, str], Judge]] = {
            "inside": self._inside,
            "height": self._height,
            "joint": self._joint,
            "near": self._near,
            "touching": self._touching,
        }
        return leaves[name](part, key)

    def _inside(self, part: Inside, key: str) -> Judge:
        place = self._place(part.of, f"{key}.of")
        low, high = np.array(part.low), np.array(part.high)
        frame = self._frame(part.frame, f"{key}.frame") if part.frame is not None else None

        def judge(data: Any) -> bool:
            point = place(data)
            if frame is not None:
                origin, axes = frame(data)
                point = axes.T @ (point - origin)
            return bool(((low <= point) & (point <= high)).all())

        return judge

    def _height(self, part: Bounds, key: str) -> Judge:
        place = self._place(part.of, f"{key}.of")
        return lambda data: part.holds(float(place(data)[2]))

    def _joint(self, part: Bounds, key: str) -> Judge:
        joint = self._naming.find(mujoco.mjtObj.mjOBJ_JOINT, part.of, f"{key}.of")
        known = self._naming.has(mujoco.mjtObj.mjOBJ_JOINT, part.of)
        if known and self._model.jnt_type[joint] not in _MOVING:
            what = f"{part.of} is neither a hinge nor a slide"
            fix = "judge the body by inside, height, near or touching"
            self._naming.faults.append(Fault(f"{key}.of", what, fix))
        address = int(self._model.jnt_qposadr[joint])
        return lambda data: part.holds(float(data.qpos[address]))

    def _near(self, part: Near, key: str) -> Judge:
        first, second = (self._place(name, f"{key}.of.{i}") for i, name in enumerate(part.of))
        return lambda data: bool(np.linalg.norm(first(data) - second(data)) <= part.within_m)

    def _touching(self, part: Sequence[str], key: str) -> Judge:
        first, second = (
            self._naming.find(mujoco.mjtObj.mjOBJ_BODY, name, f"{key}.{i}") for i, name in enumerate(part)
        )
        body_of = self._model.geom_bodyid

        def judge(data: Any) -> bool:
            bodies = body_of[data.contact.geom[: data.ncon]]
            pairs = (bodies == [first, second]).all(1) | (bodies == [second, first]).all(1)
            return bool((pairs & (data.contact.dist[: data.ncon] <= 0.0)).any())

        return judge

    def _place(self, name: str, key: str) -> Callable[[Any], NDArray[np.float64]]:
        kind, index = self._naming.body_or_site(name, key)
        attribute = "xpos" if kind == mujoco.mjtObj.mjOBJ_BODY else "site_xpos"
        return lambda data: np.asarray(getattr(data, attribute)[index])

    def _frame(self, name: str, key: str) -> Callable[[Any], tuple[NDArray[np.float64], NDArray[np.float64]]]:
        kind, index = self._naming.body_or_site(name, key)
        prefix = "" if kind == mujoco.mjtObj.mjOBJ_BODY else "site_"
        return lambda data: (
            getattr(data, f"{prefix}xpos")[index],
            getattr(data, f"{prefix}xmat")[index].reshape(3, 3),
        )
