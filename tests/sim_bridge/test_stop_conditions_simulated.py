"""Stop conditions over real motions: MetaWorld's scripted expert picks a puck up, and closes its fingers on nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from openral_core.robot import load_robot
from openral_core.stop_conditions import (
    ConditionWatch,
    FingerTravel,
    FiredCondition,
    commands_closing,
    parse_stop_when,
)
from openral_sim_bridge.backends.metaworld.world import MetaWorldWorld, make_expert

TASK = "pick-place-v3"
STEPS = 150
OBSERVATION = 4
"""Control steps between two observations: cameras at 20 Hz, control at 80 Hz."""
LATE = 24
"""Control steps, 0.3 s: the expert tears the puck up before its fingers have come to rest on it."""
HIGH = (1001, 1003, 1004)
"""Initial states whose goal lies more than 10 cm over the table."""
PUCK_GONE = np.array([0.2, 0.1, 0.0])
"""[m] The expert is shown the puck where it was, and closes on nothing."""


@pytest.fixture(scope="module")
def world() -> Iterator[MetaWorldWorld]:
    world = MetaWorldWorld((TASK,))
    yield world
    world.close()


def run_expert(
    world: MetaWorldWorld, init_id: int, text: str, *, every: int, blind: bool = False
) -> tuple[FiredCondition | None, int]:
    """Let the expert work until a condition holds; return it, and for how many control steps the puck is 5 cm up.

    `blind`: the puck is somewhere else, and the expert closes on nothing and rises.
    """
    world.reset(TASK, init_id)
    expert = make_expert(TASK)
    shown = world.look(TASK)
    if blind:
        world.data.joint("objjoint").qpos[:3] += PUCK_GONE
    watch = ConditionWatch(parse_stop_when(text), FingerTravel.of(load_robot("sawyer")))
    rest, high = puck_height(world), 0
    for step in range(1, STEPS + 1):
        seen = world.look(TASK)
        if blind:  # where the puck was, and in the hand once that is there
            seen[4:7] = seen[22:25] = shown[4:7] if seen[2] > 0.06 and step < 60 else seen[:3]
        action = np.clip(expert.get_action(seen), -1.0, 1.0)
        world.step(action)
        high += puck_height(world) - rest >= 0.05
        if step % every == 0:
            fired = watch.look(world.robot_state(), commands_closing(action, "delta_ee_3d_plus_gripper"))
            if fired is not None:
                return fired, high
    return None, high


def puck_height(world: MetaWorldWorld) -> float:
    return float(world.look(TASK)[6])


@pytest.mark.parametrize("init_id", HIGH)
@pytest.mark.parametrize("every", [1, OBSERVATION])
def test_lifted_holds_when_the_expert_has_lifted_the_puck(world, init_id, every):
    text = '[{"name": "lifted", "height_m": 0.05}]'
    fired, late = run_expert(world, init_id, text, every=every)
    assert fired is not None, "it never held"
    assert fired.name == "lifted"
    assert 0 < late <= LATE, fired.reason


@pytest.mark.parametrize("every", [1, OBSERVATION])
def test_lifted_does_not_hold_when_the_gripper_closes_on_nothing_and_rises(world, every):
    text = '[{"name": "lifted", "height_m": 0.03}]'
    for init_id in HIGH:
        fired, high = run_expert(world, init_id, text, every=every, blind=True)
        assert fired is None, fired
        state = world.robot_state()
        assert state.ee_position[2] > 0.12, "the hand rose, or this test shows nothing"
        assert state.gripper_opening < 0.034
        assert high == 0


def test_gripper_closed_says_on_what(world):
    for blind, on in ((False, "on something"), (True, "on nothing")):
        fired, _ = run_expert(world, HIGH[0], '[{"name": "gripper_closed"}]', every=OBSERVATION, blind=blind)
        assert fired is not None
        assert on in fired.reason


def test_a_hand_that_closes_at_once_while_it_rises_fast_lifts_nothing(world):
    world.reset(TASK, HIGH[0])
    watch = ConditionWatch(
        parse_stop_when('[{"name": "lifted", "height_m": 0.02}]'), FingerTravel.of(load_robot("sawyer"))
    )
    for effort in (1.0, 0.6):
        for _ in range(80):
            world.step(np.array([0.0, 0.0, 1.0, effort]))
            assert watch.look(world.robot_state(), True) is None
        assert world.robot_state().gripper_opening == pytest.approx(0.03, abs=0.002)
