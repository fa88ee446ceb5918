"""No chunk that was accepted leads the hand out of the box: for every path, and in simulators with arms that lag."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openral_control.chunk_executor import ChunkExecutor
from openral_control.chunk_queue import Chunk
from openral_control.envelope import WORKSPACE_TOLERANCE_M, Envelope
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_core.types import RobotState
from openral_sim_bridge.backends.factory import make_backend

ROUNDING_M = 1e-5
SWING_M = {
    ("tabletop_panda", False): WORKSPACE_TOLERANCE_M,
    ("tabletop_sawyer", False): WORKSPACE_TOLERANCE_M,
    ("tabletop_panda", True): 0.06,
    ("tabletop_sawyer", True): 0.06,
    ("metaworld_drawer", False): 0.05,
}
"""[m] by which the hand itself may pass the edge while its set point is inside: nothing where it is only moved; what a
hand does that is turned to and fro at 10 rad/s besides; and, in MetaWorld, what a hand does that hangs from its set
point by a spring and is thrown to and fro at 0.8 m/s."""


class Driver:
    """An executor between random chunks and an arm."""

    def __init__(self, scene):
        self.scene, self.step = scene, 0
        self.executor = ChunkExecutor(
            scene.control_hz,
            Envelope(scene, load_robot(scene.robot_id)),
            self.hold,
            representation=scene.action.representation,
        )
        self.low, self.high = np.array(scene.workspace.low), np.array(scene.workspace.high)

    def hold(self, last):
        return np.zeros(self.scene.action.dim)

    def offer(self, actions, state):
        """Offer a chunk (H, A) that answers this instant; return whether it was accepted."""
        actions = np.asarray(actions, np.float32)
        chunk = Chunk(
            self.step / self.scene.control_hz,
            "a" * 32,
            "t/s",
            "go",
            self.scene.action.representation,
            0,
            *actions.shape,
            self.scene.dt,
            actions.reshape(-1),
        )
        return self.executor.offer(chunk, self.step, state) is None

    def next(self, state):
        self.executor.check_next(self.step, state)
        action, held = self.executor.next(self.step)
        self.step += 1
        return np.asarray(action, dtype=np.float64), held

    def beyond(self, point):
        """[m] by how much a point is outside; 0 inside."""
        return float(max(0.0, np.maximum(self.low - point, point - self.high).max()))


def state_at(position, target=None):
    return RobotState(0.0, (), np.zeros(0), np.array(position), np.array([0.0, 0, 0, 1]), 0.1, target)


PANDA, DRAWER = load_scene("tabletop_panda"), load_scene("metaworld_drawer")
share = st.floats(0.0, 1.0)
number = st.floats(-1.0, 1.0, width=32)
steps = st.lists(st.tuples(number, number, number), min_size=1, max_size=16)


def place(scene, shares):
    low, high = np.array(scene.workspace.low), np.array(scene.workspace.high)
    return low + np.array(shares) * (high - low)


def actions_of(scene, rows):
    return np.hstack([np.array(rows), np.zeros((len(rows), scene.action.dim - 3))])


@pytest.mark.parametrize("scene", [PANDA, DRAWER], ids=["panda", "metaworld"])
def test_the_chunk_that_led_from_inside_to_outside_is_rejected(scene):
    for axis in range(3):
        for sign in (-1.0, 1.0):
            driver, rows = Driver(scene), np.zeros((16, 3))
            rows[:, axis] = sign
            shares = np.full(3, 0.5)
            shares[axis] = 0.9 if sign > 0 else 0.1
            assert not driver.offer(actions_of(scene, rows), state_at(place(scene, shares)))
            assert "workspace: step" in driver.executor.last_rejection
            assert driver.offer(actions_of(scene, -rows[:2]), state_at(place(scene, shares)))


@given(shares=st.tuples(share, share, share), rows=steps)
@settings(max_examples=60)
def test_an_accepted_chunk_stays_inside_by_adding_it_up(shares, rows):
    for scene in (PANDA, DRAWER):
        driver, position = Driver(scene), place(scene, shares)
        accepted = driver.offer(actions_of(scene, rows), state_at(position))
        path = position + np.cumsum(scene.action.step_m * np.float32(rows).astype(float), axis=0)
        leaves = max(driver.beyond(point) for point in path)
        assert accepted or leaves > WORKSPACE_TOLERANCE_M - ROUNDING_M
        assert not accepted or leaves <= WORKSPACE_TOLERANCE_M + ROUNDING_M


@given(
    shares=st.tuples(share, share, share),
    chunks=st.lists(steps, min_size=1, max_size=8),
    follows=st.floats(0.01, 1.0),
    blocked=st.lists(st.booleans(), min_size=8, max_size=8),
    executed=st.integers(1, 16),
)
@settings(max_examples=60)
def test_a_hand_that_lags_or_is_held_up_stays_inside_over_many_chunks(
    shares, chunks, follows, blocked, executed
):
    """Its set point adds up what it is told, and the hand goes a part of the way there, or none, in a step."""
    driver = Driver(PANDA)
    hand = place(PANDA, shares)
    target = hand.copy()
    for rows, stands in zip(chunks, blocked, strict=False):
        driver.offer(actions_of(PANDA, rows), state_at(hand, target.copy()))
        for _ in range(executed):
            action, _ = driver.next(state_at(hand, target.copy()))
            target = target + PANDA.action.step_m * action[:3]
            hand = hand if stands else hand + follows * (target - hand)
            assert driver.beyond(target) <= WORKSPACE_TOLERANCE_M + ROUNDING_M
            assert driver.beyond(hand) <= WORKSPACE_TOLERANCE_M + ROUNDING_M


@given(shares=st.tuples(share, share, share), out=st.floats(0.002, 0.3), axis=st.integers(0, 2), rows=steps)
@settings(max_examples=50)
def test_a_hand_outside_is_never_led_further_out(shares, out, axis, rows):
    driver, position = Driver(PANDA), place(PANDA, shares)
    position[axis] = driver.high[axis] + out
    assert driver.offer(np.zeros((4, 7)), state_at(position)), "it may be held"
    if driver.offer(actions_of(PANDA, rows), state_at(position)):
        for _ in rows:
            action, _ = driver.next(state_at(position))
            before, position = driver.beyond(position), position + PANDA.action.step_m * action[:3]
            # Once it is inside, it may come as near to the end as any hand.
            assert driver.beyond(position) <= max(before, WORKSPACE_TOLERANCE_M) + ROUNDING_M


@pytest.mark.parametrize(
    "trials", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(8, marks=pytest.mark.long)]
)
@pytest.mark.parametrize(("name", "turning"), SWING_M)
def test_the_hand_of_a_simulated_arm_stays_inside(name, turning, trials):
    """Chunk after chunk at full command, each judged from where the hand is then; most of a chunk is executed."""
    scene = load_scene(name)
    backend = make_backend(scene)
    random = np.random.default_rng(5)
    farthest = accepted = 0
    try:
        for trial in range(trials):
            driver = Driver(scene)
            [state] = backend.reset([backend.task_ids[0]], [trial])
            outside, way = driver.beyond(state.ee_position), np.zeros(3)
            for _ in range(30):
                if random.random() < 0.4:
                    way = random.normal(size=3)
                rows = np.tile(way / np.abs(way).max(initial=1e-9), (random.integers(1, 12), 1))
                actions = actions_of(scene, rows)
                if turning:
                    actions[:, 3:6] = random.uniform(-1.0, 1.0, 3)
                accepted += driver.offer(np.clip(actions, -1.0, 1.0), state)
                for _ in range(8):
                    action, _ = driver.next(state)
                    [state] = backend.step(action[None]).states
                    assert driver.beyond(state.ee_target) <= max(outside, WORKSPACE_TOLERANCE_M + ROUNDING_M)
                    farthest = max(farthest, driver.beyond(state.ee_position))
    finally:
        backend.close()
    print(
        f"{name}: at most {1e3 * farthest:.1f} mm out of the box, {accepted} of {30 * trials} chunks accepted"
    )
    assert accepted > 2 * trials
    assert farthest <= SWING_M[name, turning]


def test_states_that_say_nothing_of_a_target_are_judged_by_the_hand():
    driver = Driver(PANDA)
    edge = dataclasses.replace(state_at([0.5, 0.0, 0.3]), ee_position=np.array([0.5, 0.48, 0.3]))
    assert driver.offer(actions_of(PANDA, [(0.0, 0.3, 0.0)] * 1), edge)
    moved = state_at([0.5, 0.499, 0.3])
    action, held = driver.next(moved)
    assert held
    assert not action[:3].any()
    assert "workspace: the next step leads" in driver.executor.last_rejection
