"""One simulated world in a variant of an initial state, ready for a control loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openral_benchmark.harness.perturbations import HarnessVariant
from openral_control.motions import MotionArm, MotionEnd, make_motion
from openral_core.errors import SimulationError
from openral_core.robot import RobotDescription
from openral_core.scene import BenchmarkScene
from openral_core.types import RobotState
from openral_sim_bridge.backend import Backend
from openral_sim_bridge.disturbances import make_disturbance
from openral_sim_bridge.simulated_arm import SimulatedArm

DISPLACED_M = (0.10, 0.20)
"""[m] least and greatest distance of a displaced hand from where it usually begins."""
ROOMS = {
    "metaworld": ((-0.3, 0.45, 0.12), (0.3, 0.85, 0.40)),
    "robosuite": ((-0.25, -0.25, 0.96), (0.10, 0.25, 1.20)),
}
"""Simulator -> [m] corners of the box in which a displaced hand begins, above what lies on the table or in a bin."""
REPLAN_STEPS = 4
"""Control steps from one answer of the motion that displaces the hand to the next."""
MOST_STEPS = 400
"""Control steps after which that motion has failed."""
MOST_STARTS = 5
"""Displaced starts that are tried: something, such as a drawer that is nearer than usual, may stand before one."""


class LookedAtArm(SimulatedArm):
    """An arm whose cameras draw what is looked at and nothing else: a motion needs no pictures."""

    def __init__(self, backend: Backend) -> None:
        """Take a backend with one world."""
        super().__init__(backend)
        self._world, self.moved = backend, 0
        """How often the world was stepped or put into a state."""

    def reset(self, task: str, init_id: int) -> RobotState:
        """Put the world into an initial state and return the arm's state there."""
        self.moved += 1
        return super().reset(task, init_id)

    def step(self, action: NDArray[Any]) -> RobotState:
        """Advance the world by one control step with `action` (A,)."""
        self.moved += 1
        return super().step(action)

    def images(self, cameras: Sequence[str]) -> Mapping[str, NDArray[np.uint8]]:
        """Return the present image (H, W, 3) uint8 RGB of each camera, drawn when it is first asked for."""
        return DrawnOnDemand(self, self._world, cameras)


class DrawnOnDemand(Mapping[str, NDArray[np.uint8]]):
    """Images of one instant by camera. Once the world has moved on, only those that were drawn can be had."""

    def __init__(self, arm: LookedAtArm, backend: Backend, cameras: Sequence[str]) -> None:
        self._arm, self._backend, self._cameras, self._at = arm, backend, tuple(cameras), arm.moved
        self._drawn: dict[str, NDArray[np.uint8]] = {}

    def __getitem__(self, camera: str) -> NDArray[np.uint8]:
        """Return an image, drawn now if it has not been. Raises SimulationError: it is too late to draw it."""
        if camera not in self._drawn:
            if camera not in self._cameras:
                raise KeyError(camera)
            if self._arm.moved != self._at:
                raise SimulationError(f"camera {camera}: the world has moved on since; look at once")
            self._drawn[camera] = self._backend.render([camera])[camera][0]
        return self._drawn[camera]

    def __iter__(self) -> Iterator[str]:
        """Yield the cameras."""
        return iter(self._cameras)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._cameras)


def begin_world(
    backend: Backend,
    scene: BenchmarkScene,
    robot: RobotDescription,
    variant: HarnessVariant,
    task: str,
    init_id: int,
) -> tuple[SimulatedArm, RobotState]:
    """Put a world into a variant of an initial state; return its arm, and the arm's state.

    What brings the hand to a displaced start is no part of the episode.

    Args:
        backend: one world of the variant's scene.
        scene: of the variant.
        robot: of the scene.
        variant: what is not as usual.
        task: as its simulator knows it.
        init_id: number of the state; it decides all that is random.

    Raises:
        OpenralError: the simulator refused, or the hand did not get to its start.
    """
    arm = LookedAtArm(backend)
    state = arm.reset(task, init_id)
    if variant.displaced:
        state = _displace(arm, state, MotionArm.of(scene, robot), init_id, _room(scene))
    if variant.disturbance:
        arm.disturbance = make_disturbance(variant.disturbance, scene, robot, backend, init_id)
    return arm, state


def displaced_starts(
    usual: NDArray[np.float64], init_id: int, room: NDArray[np.float64]
) -> Iterator[NDArray[np.float64]]:
    """Yield where a hand may begin (3,) [m] that usually begins at `usual` (3,) [m], in a room (2, 3) [m]."""
    rng = np.random.default_rng([init_id, 3])
    low, high = room
    while True:
        way = rng.normal(size=3)
        start = usual + rng.uniform(*DISPLACED_M) * way / np.linalg.norm(way)
        if ((start >= low) & (start <= high)).all():
            yield start


def _room(scene: BenchmarkScene) -> NDArray[np.float64]:
    """Return the box (2, 3) [m] of `ROOMS`. Raises SimulationError: the scene's simulator has none."""
    family = str(scene.scene.backend_options.get("family"))
    if family not in ROOMS:
        raise SimulationError(
            f"{family}: where a displaced hand may begin is known of {', '.join(ROOMS)} only"
        )
    return np.array(ROOMS[family])


def _displace(
    arm: SimulatedArm, state: RobotState, motions: MotionArm, init_id: int, room: NDArray[np.float64]
) -> RobotState:
    """Bring the hand to a displaced start, the first of a few that nothing in the world stands before."""
    starts = displaced_starts(state.ee_position, init_id, room)
    for start in islice(starts, MOST_STARTS):
        state, arrived = _drive(arm, state, motions, start)
        if arrived:
            return state
    raise SimulationError(
        f"the hand was to begin 10 to 20 cm off and got to none of {MOST_STARTS} places there"
    )


def _drive(
    arm: SimulatedArm, state: RobotState, motions: MotionArm, start: NDArray[np.float64]
) -> tuple[RobotState, bool]:
    motion = make_motion(
        "move_to", {"position": start.tolist(), "gripper": "open", "speed_m_s": 0.5}, motions
    )
    for _ in range(MOST_STEPS // REPLAN_STEPS):
        answer = motion.advance(state)
        if isinstance(answer, MotionEnd):
            return state, answer.succeeded
        for action in answer[:REPLAN_STEPS]:
            state = arm.step(np.asarray(action, np.float64))
    return state, False
