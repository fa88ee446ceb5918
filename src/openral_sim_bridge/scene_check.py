"""Checks that a scene's simulated world agrees with its files: its model, cameras, initial states and control.

The world is built, reset, held and moved, and each check gives one row. What the scene deploys is checked first,
without a world.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray

from openral_core.errors import OpenralError
from openral_core.robot import RobotDescription, load_robot
from openral_core.scene import DeployScene, load_scene
from openral_core.types import RobotState
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.backends.factory import make_backend
from openral_sim_bridge.check_row import CheckRow, fault_rows
from openral_sim_bridge.deployment_check import deployment_rows

HOLD_S, MOVE_S = 1.0, 0.5
"""[s] durations for which the arm is held, and is moved along each axis."""
DRIFT_M = 0.005
"""[m] largest displacement of the hand in `HOLD_S` while it is held."""
MOVED = (0.5, 1.5)
"""Least and greatest ratio of the hand's displacement to the commanded one."""
COMMAND = 0.3
"""Share of a full command with which the hand is moved."""
_TYPES = {"revolute": ("revolute", "continuous"), "continuous": ("continuous",), "prismatic": ("prismatic",)}


@dataclass
class Report:
    """The results of all checks, and an image of each camera."""

    rows: list[CheckRow] = field(default_factory=list)
    pictures: Mapping[str, NDArray[np.uint8]] = field(default_factory=dict)
    """Camera -> image (H, W, 3) uint8 RGB of the first initial state."""

    @property
    def ok(self) -> bool:
        """Whether every check has passed."""
        return all(row.ok for row in self.rows)


def check_scene(
    ref: str, *, states: int = 5, factory: Callable[[DeployScene], Backend] = make_backend
) -> Report:
    """Build a scene's world and check it; faults of the world are rows of the report.

    Args:
        ref: name or path of the scene.
        states: number of initial states that are checked.
        factory: builds the world.

    Raises:
        NotFoundError: there is no such scene.
        ManifestError: its file is wrong; the text has one line for each fault.
    """
    report, scene = Report(), load_scene(ref)
    backend: Backend | None = None
    try:
        robot = load_robot(scene.robot_id)
        report.rows += deployment_rows(scene, robot)
        backend = factory(scene)
        report.rows.append(CheckRow("world", True, _world_words(scene, backend)))
        trial = Trial(scene, robot, backend)
        for question in (trial.links, trial.cameras, trial.starts, trial.holds, trial.moves):
            report.rows += question(states)
        report.pictures = trial.pictures
    except OpenralError as error:
        report.rows += fault_rows("world", error)
    finally:
        if backend is not None:
            backend.close()
    return report


class Trial:
    """The checks of a world that could be built; each takes the number of initial states and yields its rows."""

    def __init__(self, scene: DeployScene, robot: RobotDescription, backend: Backend) -> None:
        self._scene, self._robot, self._backend = scene, robot, backend
        self._first = scene.init_id
        self.pictures: dict[str, NDArray[np.uint8]] = {}

    def links(self, states: int) -> Iterator[CheckRow]:
        """Check that the model has the links of robot.yaml, and joints of the same types."""
        robot, model = self._robot, self._backend.robot(self._robot.name, self._robot.base_frame)
        urdf = ET.fromstring(model.urdf)
        links = {str(link.get("name")) for link in urdf.findall("link")}
        types = {str(joint.get("name")): str(joint.get("type")) for joint in urdf.findall("joint")}
        frames = {robot.base_frame, *(hand.frame for hand in robot.end_effectors)}
        frames |= {link for joint in robot.joints for link in (joint.parent_link, joint.child_link)}
        missing = sorted(frames - links)
        yield CheckRow(
            "links",
            not missing,
            f"{len(links)} in the model" if not missing else f"no {', '.join(missing)}",
            f"fix the links of robot.yaml, or map them by `names`; the model has {', '.join(sorted(links))}",
        )
        wrong = [
            f"{joint.name} is {types[joint.name]}"
            for joint in robot.joints
            if joint.name in types and types[joint.name] not in _TYPES.get(joint.joint_type, ("fixed",))
        ]
        found = "; ".join(wrong) or f"{sum(kind != 'fixed' for kind in types.values())} move"
        yield CheckRow("joints", not wrong, found, "fix joint_type in robot.yaml")

    def cameras(self, states: int) -> Iterator[CheckRow]:
        """Check that the image of each camera is not of one colour."""
        self._reset(self._first)
        for camera in self._scene.cameras:
            model = self._backend.camera(camera.name)
            picture = self._backend.render([camera.name])[camera.name][0]
            self.pictures[camera.name] = picture
            found = f"{model.width}x{model.height}, {model.fovy_deg:.0f} deg, on {model.parent}"
            sees = float(picture.std()) > 1.0
            fix = "it sees one colour; turn it, or add a <light>"
            yield CheckRow(
                f"camera {camera.name}", sees, found if sees else f"{found}, all of one colour", fix
            )

    def starts(self, states: int) -> Iterator[CheckRow]:
        """Check that initial states repeat to the byte, begin in the workspace and leave a task undone."""
        again, outside, done = [], [], []
        for init_id in range(self._first, self._first + states):
            state, first = self._reset(init_id), self._backend.snapshot().qpos.tobytes()
            if not self._is_inside(state):
                outside.append(f"{init_id} at {np.round(state.ee_position, 3)}")
            result = self._backend.step(self._backend.hold_action(None)[None])
            done.append({task for k, task in enumerate(self._backend.task_ids) if result.success[0, k]})
            self._reset(init_id)
            if self._backend.snapshot().qpos.tobytes() != first:
                again.append(str(init_id))
        yield CheckRow(
            "initial states",
            not again,
            f"{states} repeat to the byte" if not again else f"{', '.join(again)} differ",
            "let nothing in the reset depend on the past",
        )
        if self._scene.workspace is not None:
            found = (
                "every one begins in it" if not outside else f"the hand begins outside: {'; '.join(outside)}"
            )
            yield CheckRow("workspace", not outside, found, "widen workspace, or move the home pose")
        yield _tasks_row(self._backend.task_ids, done)

    def holds(self, states: int) -> Iterator[CheckRow]:
        """Check that a held hand stays in place, and report the simulation's speed relative to real time."""
        before, steps = self._reset(self._first), max(1, round(HOLD_S * self._scene.control_hz))
        began = time.perf_counter()
        for _ in range(steps):
            result = self._backend.step(self._backend.hold_action(None)[None])
        rate = steps / (time.perf_counter() - began)
        drift = float(np.linalg.norm(result.states[0].ee_position - before.ee_position))
        fix = 'stiffen the actuators, or let the links carry their weight: gravcomp="1"'
        yield CheckRow("holds", drift <= DRIFT_M, f"{1000 * drift:.1f} mm in {HOLD_S:g} s", fix)
        yield CheckRow("speed", True, f"{rate / self._scene.control_hz:.1f} x real time, without pictures")

    def moves(self, states: int) -> Iterator[CheckRow]:
        """Check that commanded displacements move the hand in their direction by about their length."""
        action = self._scene.action
        if not action.representation.startswith("delta_ee"):
            return
        steps = max(1, round(MOVE_S * self._scene.control_hz))
        wanted = COMMAND * steps * float(action.step_m or 0.0) * action.share(self._scene.dt)
        for axis, name in enumerate("xyz"):
            before = self._reset(self._first)
            sign = self._roomy(before, axis, wanted)
            command = self._backend.hold_action(None)
            command[axis] = sign * COMMAND
            for _ in range(steps):
                self._backend.step(command[None])
            for _ in range(steps):  # lets a hand that lags behind arrive
                result = self._backend.step(self._backend.hold_action(command)[None])
            went = sign * float(result.states[0].ee_position[axis] - before.ee_position[axis])
            ok = MOVED[0] * wanted <= went <= MOVED[1] * wanted
            found = f"{100 * went:.1f} cm of {100 * wanted:.1f} commanded"
            fix = "is something in its way, is it at its joints' ends, or is step_m another?"
            yield CheckRow(f"moves along {name}", ok, found, fix)

    def _reset(self, init_id: int) -> RobotState:
        return self._backend.reset([self._backend.task_ids[0]], [init_id])[0]

    def _is_inside(self, state: RobotState) -> bool:
        box = self._scene.workspace
        return box is None or bool(((box.low <= state.ee_position) & (state.ee_position <= box.high)).all())

    def _roomy(self, state: RobotState, axis: int, distance: float) -> float:
        """Return the sign of a displacement along an axis that stays in the workspace; +1 if there is no workspace."""
        box = self._scene.workspace
        if box is None or state.ee_position[axis] + distance <= box.high[axis]:
            return 1.0
        return -1.0


def _tasks_row(tasks: Sequence[str], done: Sequence[set[str]]) -> CheckRow:
    """Return a row that says whether each initial state leaves a task undone, given the tasks that are done in each.

    Some tasks may be done at the start: of two opposite ones, to open a drawer and to close it, one always is.
    """
    ever, undone = set().union(*done), set().union(*(set(tasks) - row for row in done))
    fix = "demand more in `success`, or place things further away"
    if any(row == set(tasks) for row in done):
        return CheckRow("tasks", False, f"every one is done at the start: {', '.join(tasks)}", fix)
    if not ever:
        return CheckRow("tasks", True, "none is done at the start")
    names = [", ".join(task for task in tasks if task in group) for group in (ever, undone)]
    return CheckRow("tasks", True, f"done at the start: {names[0]}; not yet: {names[1]}")


def _world_words(scene: DeployScene, backend: Backend) -> str:
    tasks: Sequence[str] = backend.task_ids
    family: Any = scene.scene.backend_options.get("family")
    return f"{family} at {backend.control_hz:g} Hz, {len(tasks)} tasks: {', '.join(tasks)}"
