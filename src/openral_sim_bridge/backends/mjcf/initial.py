"""Numbered initial states: a home pose with free bodies placed at random, or keyframes of the model."""

from __future__ import annotations

import re
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from openral_core.errors import NotFoundError, SimulationError
from openral_core.schema import Fault
from openral_sim_bridge.backends.mjcf.gripper import Gripper
from openral_sim_bridge.backends.mjcf.kinematics import turned
from openral_sim_bridge.backends.mjcf.name_lookup import Naming
from openral_sim_bridge.backends.mjcf.options import MjcfOptions, Placement

TRIES = 200
"""Most draws to find places in which the bodies are far enough apart."""
_NUMBER = re.compile(r"[0-9]{1,10}")
"""Number of an initial state in the name of a keyframe."""


class InitialStates:
    """The initial states of a scene. Random places of state i are drawn with the seed i, whatever the task."""

    def __init__(self, model: Any, options: MjcfOptions, gripper: Gripper | None, naming: Naming) -> None:
        """Look up keyframes, joints and bodies; each missing one adds a fault to `naming.faults`."""
        self._model = model
        self._options = options
        self._gripper = gripper
        self._keys: dict[str, int] = {}
        self._pose: list[tuple[int, float]] = []
        self._states: dict[int, int] = {}
        if options.keyframes is not None:
            self._states = _numbered(model, options.keyframes)
            if not self._states:
                fix = f"name keyframes of the model {options.keyframes}0, {options.keyframes}1 and so on"
                naming.faults.append(Fault("keyframes", f"no keyframe begins with {options.keyframes}", fix))
        elif isinstance(options.home, str):
            self._keys[""] = naming.find(mujoco.mjtObj.mjOBJ_KEY, options.home, "home")
        else:
            self._pose = [
                (_simple_joint(model, naming, name), position) for name, position in options.home.items()
            ]
        for task, key in options.starts.items():
            self._keys[task] = naming.find(mujoco.mjtObj.mjOBJ_KEY, key, f"starts.{task}")
        self._free = {body: _free_joint(model, naming, body) for body in options.place}

    def put(self, data: Any, task: str, init_id: int) -> None:
        """Put a world into an initial state, at rest unless a keyframe has velocities, and call mj_forward.

        Raises:
            NotFoundError: there is no such task.
            SimulationError: there is no state of this number, or no room for the bodies.
        """
        if task not in self._options.tasks:
            raise NotFoundError(
                f"task '{task}' is not of this scene, which has {', '.join(self._options.tasks)}"
            )
        self.require(init_id)
        mujoco.mj_resetData(self._model, data)
        key = self._states[init_id] if self._states else self._keys.get(task, self._keys.get(""))
        if key is not None:
            mujoco.mj_resetDataKeyframe(self._model, data, key)
        else:
            if self._gripper is not None:
                self._gripper.spread(data)
            for address, position in self._pose:
                data.qpos[address] = position
        for body, (x, y, z, yaw) in self._draw(data, init_id).items():
            at = self._free[body]
            data.qpos[at : at + 3] = x, y, z
            data.qpos[at + 3 : at + 7] = turned(data.qpos[at + 3 : at + 7], np.array([0.0, 0.0, yaw]))
        mujoco.mj_forward(self._model, data)

    def require(self, init_id: int) -> None:
        """Raise SimulationError unless there is a state of this number."""
        if init_id < 0:
            raise SimulationError(f"init_id must be >= 0, not {init_id}")
        if self._states and init_id not in self._states:
            known = f"{min(self._states)} to {max(self._states)}"
            raise SimulationError(f"the model has no keyframe for init_id {init_id}; it has {known}")

    def poses(self) -> list[tuple[str, NDArray[np.float64]]]:
        """Return each pose (nq,) that an initial state can begin in, with the option that names it."""
        model = self._model
        if self._states:
            return [("keyframes", model.key_qpos[key]) for key in self._states.values()]
        found = [
            (f"starts.{task}" if task else "home", model.key_qpos[key]) for task, key in self._keys.items()
        ]
        if "" not in self._keys:
            home = np.array(model.qpos0)
            for address, position in self._pose:
                home[address] = position
            found.append(("home", home))
        return found

    def _draw(self, data: Any, init_id: int) -> dict[str, NDArray[np.float64]]:
        """Return x, y, z [m] in the world and the rotation [rad] about the vertical of each placed body.

        Raises:
            SimulationError: the bodies were not far enough apart in any of `TRIES` draws.
        """
        rng = np.random.default_rng(init_id)
        for _ in range(TRIES):
            drawn = {
                body: _draw_one(place, data.qpos[self._free[body] :][:3], rng)
                for body, place in self._options.place.items()
            }
            points = np.array([place[:2] for place in drawn.values()]).reshape(-1, 2)
            distances = np.linalg.norm(points[:, None] - points[None], axis=2)[
                np.triu_indices(len(points), 1)
            ]
            if (distances >= self._options.apart_m).all():
                return drawn
        raise SimulationError(
            f"place: {len(drawn)} bodies found no room {self._options.apart_m:g} m apart in {TRIES} draws; "
            "widen their ranges or lower apart_m"
        )


def _draw_one(place: Placement, here: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return x, y, z [m] and yaw [rad] of one body.

    All four numbers are always drawn, so that the range of one does not affect the others.
    """
    ranges = [place.x, place.y, place.z, place.yaw]
    stays = [*here, 0.0]
    shares = rng.uniform(size=4)
    return np.array(
        [
            stay if span is None else span[0] + share * (span[1] - span[0])
            for span, stay, share in zip(ranges, stays, shares, strict=True)
        ]
    )


def _numbered(model: Any, prefix: str) -> dict[int, int]:
    """Return number -> id of the keyframes whose names consist of a prefix and a number."""
    names = [model.key(index).name for index in range(model.nkey)]
    endings = [name.removeprefix(prefix) if name.startswith(prefix) else "" for name in names]
    return {int(ending): index for index, ending in enumerate(endings) if _NUMBER.fullmatch(ending)}


def _simple_joint(model: Any, naming: Naming, name: str) -> int:
    index = naming.find(mujoco.mjtObj.mjOBJ_JOINT, name, f"home.{name}")
    if model.jnt_type[index] not in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
        what = f"joint {name} has more than one number"
        naming.faults.append(Fault(f"home.{name}", what, "put such joints into a keyframe of the model"))
    return int(model.jnt_qposadr[index])


def _free_joint(model: Any, naming: Naming, name: str) -> int:
    body = naming.find(mujoco.mjtObj.mjOBJ_BODY, name, f"place.{name}")
    joint = int(model.body_jntadr[body])
    if joint < 0 or model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE:
        if naming.has(mujoco.mjtObj.mjOBJ_BODY, name):
            naming.faults.append(
                Fault(f"place.{name}", f"body {name} cannot be placed", "give it a <freejoint/>")
            )
        return 0
    return int(model.jnt_qposadr[joint])
