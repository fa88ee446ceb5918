"""Puts a simulated world into a variant of an initial state, ready for a control loop."""

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
"""[m] least and greatest distance of a displaced hand from its usual start."""
ROOMS = {
    "metaworld": ((-0.3, 0.45, 0.12), (0.3, 0.85, 0.40)),
    "robosuite": ((-0.25, -0.25, 0.96), (0.10, 0.25, 1.20)),
}
"""Simulator -> [m] lower and upper corner, in the world frame, of the box in which a displaced hand begins; it is above
what lies on the table or in a bin."""
REPLAN_STEPS = 4
"""Control steps that are executed of each chunk of the motion that displaces the hand."""
MOST_STEPS = 400
"""Control steps after which that motion has failed."""
MOST_STARTS = 5
"""Most displaced starts that are tried, since one may be blocked, for example by a drawer that is nearer than usual."""


class LookedAtArm(SimulatedArm):
    """An arm whose cameras are rendered only when their image is read, since motions need no images."""

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
    """Images of one instant by camera, rendered when first read; after the next step only rendered ones can be read."""

    def __init__(self, arm: LookedAtArm, backend: Backend, cameras: Sequence[str]) -> None:
        self._arm, self._backend, self._cameras, self._at = arm, backend, tuple(cameras), arm.moved
        self._drawn: dict[str, NDArray[np.uint8]] = {}

    def __getitem__(self, camera: str) -> NDArray[np.uint8]:
        """Return an image (H, W, 3), rendered now if need be.

        Raises:
            KeyError: there is no such camera.
            SimulationError: it was not rendered before the world moved on.
        """
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
        """Return the number of cameras."""
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

    The steps that bring the hand to a displaced start are not counted in the episode.

    Args:
        backend: has one world, of the variant's scene.
        scene: of the variant.
        robot: of the scene.
        variant: its displacement and disturbance.
        task: name in its simulator.
        init_id: number of the initial state; it seeds all that is random.

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
    """Yield displaced starts of the hand (3,) [m], endlessly.

    Each is at a uniform distance in `DISPLACED_M` and in a uniform direction from `usual`, and inside `room`.

    Args:
        usual: (3,) [m] usual start in the world frame.
        init_id: number of the initial state, which seeds the starts.
        room: (2, 3) [m] lower and upper corner of the box.
    """
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
    """Bring the hand to the first of at most `MOST_STARTS` displaced starts that it reaches; return the state there."""
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
