"""The envelope: every bad chunk is rejected whole, every good one passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from openral_control.envelope import Envelope
from openral_core.errors import EnvelopeError
from openral_core.robot import RobotDescription
from openral_core.scene import DeployScene
from openral_core.types import RobotState

DT = 1.0 / 80.0
Chunk = NDArray[np.float32]
Call = dict[str, Any]


@pytest.fixture
def envelope(scene: DeployScene, robot: RobotDescription) -> Envelope:
    return Envelope(scene, robot)


def good(random_: np.random.Generator, state: RobotState) -> Call:
    chunk = random_.uniform(-1.0, 1.0, (random_.integers(1, 33), 4)).astype(np.float32)
    return {"data": chunk, "dim": 4, "dt": DT, "age_s": random_.uniform(0.0, 0.4), "state": state}


def spoil_value(value: float) -> Callable[[np.random.Generator, Call], None]:
    def spoil(random_: np.random.Generator, call: Call) -> None:
        chunk = call["data"]
        chunk[random_.integers(chunk.shape[0]), random_.integers(chunk.shape[1])] = value

    return spoil


def spoil_shape(random_: np.random.Generator, call: Call) -> None:
    shapes = [(0, 4), (4,), (3, 5), (3, 3), (2, 2, 4), ()]
    call["data"] = np.zeros(shapes[random_.integers(len(shapes))], np.float32)


def spoil_key(key: str, values: list[Any]) -> Callable[[np.random.Generator, Call], None]:
    def spoil(random_: np.random.Generator, call: Call) -> None:
        call[key] = values[random_.integers(len(values))]

    return spoil


FAULTS = [
    *[spoil_value(value) for value in (np.nan, np.inf, -np.inf, 1.001, -1.01, 1e30, -3.4e38)],
    spoil_shape,
    spoil_key("dim", [0, 3, 5, -4]),
    spoil_key("dt", [0.0, -DT, DT * 1.02, DT / 2, np.nan, np.inf]),
    spoil_key("age_s", [0.6, -1.0, np.nan, np.inf, 1e9]),
    spoil_key("data", [np.zeros((2, 4), np.int64), np.zeros((2, 4), bool), np.zeros((2, 4), np.complex64)]),
    spoil_key("state", [None]),
]


@pytest.mark.parametrize("count", [1_500, pytest.param(10_000, marks=pytest.mark.long)])
def test_thousands_of_bad_chunks_are_rejected_and_good_ones_pass(
    envelope: Envelope, state: RobotState, count: int
) -> None:
    random_ = np.random.default_rng(7)
    rejected = 0
    for index in range(count):
        call = good(random_, state)
        envelope.check(call.pop("data").copy(), **call)
        call = good(random_, state)
        FAULTS[index % len(FAULTS)](random_, call)
        with pytest.raises(EnvelopeError, match=r"\A.+\Z"):
            envelope.check(call.pop("data"), **call)
        rejected += 1
    assert rejected == count


def test_a_chunk_is_never_changed(envelope: Envelope, state: RobotState) -> None:
    chunk = np.ones((16, 4), np.float32)
    envelope.check(chunk, dim=4, dt=DT, age_s=0.0, state=state)
    np.testing.assert_array_equal(chunk, np.ones((16, 4), np.float32))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_hand_outside_the_workspace_may_only_come_back(
    envelope: Envelope, scene: DeployScene, state: RobotState, axis: int, side: float
) -> None:
    assert scene.workspace is not None
    edge = scene.workspace.high[axis] if side > 0 else scene.workspace.low[axis]
    position = state.ee_position.copy()
    position[axis] = edge + side * 0.02
    outside = replace(state, ee_position=position)
    chunk = np.zeros((8, 4), np.float32)
    chunk[:, axis] = side
    with pytest.raises(EnvelopeError, match="workspace: step 0"):
        envelope.check(chunk, dim=4, dt=DT, age_s=0.0, state=outside)
    envelope.check(-chunk, dim=4, dt=DT, age_s=0.0, state=outside)
    envelope.check(0 * chunk, dim=4, dt=DT, age_s=0.0, state=outside)
    chunk[:4] *= -1.0  # back by 4 cm, then out by 4 cm: never further out than now
    envelope.check(chunk, dim=4, dt=DT, age_s=0.0, state=outside)


def test_steps_that_are_past_lead_nowhere_but_must_be_sound(
    envelope: Envelope, scene: DeployScene, state: RobotState
) -> None:
    assert scene.workspace is not None
    outside = replace(state, ee_position=np.array([scene.workspace.high[0] + 0.02, *state.ee_position[1:]]))
    chunk = np.zeros((8, 4), np.float32)
    chunk[:4, 0], chunk[4:, 0] = 1.0, -1.0  # out, then back
    with pytest.raises(EnvelopeError, match="workspace: step 0"):
        envelope.check(chunk, dim=4, dt=DT, age_s=0.0, state=outside)
    envelope.check(chunk, dim=4, dt=DT, age_s=4 * DT, state=outside, past=4)
    chunk[2, 3] = np.inf
    with pytest.raises(EnvelopeError, match="finite: step 2"):
        envelope.check(chunk, dim=4, dt=DT, age_s=4 * DT, state=outside, past=4)


def test_an_unknown_position_is_no_position(envelope: Envelope, state: RobotState) -> None:
    lost = replace(state, ee_position=np.array([np.nan, 0.6, 0.2]))
    with pytest.raises(EnvelopeError, match="position is unknown"):
        envelope.check(np.zeros((1, 4)), dim=4, dt=DT, age_s=0.0, state=lost)


def test_speed_of_the_robot_is_a_limit(
    scene: DeployScene, robot: RobotDescription, state: RobotState
) -> None:
    slow = robot.model_copy(update={"safety": robot.safety.model_copy(update={"max_ee_speed_m_s": 0.5})})
    chunk = np.array([[0.3, 0.3, 0.3, 0.0], [0.6, 0.3, 0.0, 0.0]])
    with pytest.raises(EnvelopeError, match=r"step size: step 1 moves 0\.537 m/s, allowed 0\.500 m/s"):
        Envelope(scene, slow).check(chunk, dim=4, dt=DT, age_s=0.0, state=state)


def test_a_horizon_has_a_limit_by_the_scene_and_by_its_sender(
    scene: DeployScene, robot: RobotDescription, state: RobotState
) -> None:
    def check(steps: int, limit_s: float = np.inf, **action: Any) -> None:
        changed = scene.model_copy(update={"action": scene.action.model_copy(update=action)})
        chunk = np.zeros((steps, 4), np.float32)
        Envelope(changed, robot).check(chunk, dim=4, dt=DT, age_s=0.0, state=state, horizon_limit_s=limit_s)

    check(400)
    check(16, limit_s=0.2)
    check(8, limit_s=0.2, max_horizon_s=0.1)
    for steps, limit_s, action in (
        (405, np.inf, {}),
        (100_000, 1e9, {}),
        (17, 0.2, {}),
        (9, 0.2, {"max_horizon_s": 0.1}),
    ):
        with pytest.raises(EnvelopeError, match=rf"\Ahorizon: {steps} steps last .* s, allowed .* s\Z"):
            check(steps, limit_s, **action)


def test_the_next_step_is_judged_by_where_the_hand_is_led(
    envelope: Envelope, scene: DeployScene, state: RobotState
) -> None:
    assert scene.workspace is not None
    edge = scene.workspace.high[0]
    out = np.array([1.0, 0.0, 0.0, 0.0])
    envelope.check_step(out, state)
    ahead = replace(state, ee_target=np.array([edge - 0.005, *state.ee_position[1:]]))
    with pytest.raises(EnvelopeError, match="workspace: the next step leads the end effector to x"):
        envelope.check_step(out, ahead)
    envelope.check_step(-out, ahead)
    envelope.check_step(0 * out, replace(state, ee_target=np.array([edge + 0.3, *state.ee_position[1:]])))


def test_a_scene_cannot_allow_more_than_five_seconds(scene: DeployScene) -> None:
    with pytest.raises(ValueError, match="max_horizon_s"):
        type(scene.action).model_validate({**scene.action.model_dump(), "max_horizon_s": 5.1})


def test_displacements_that_do_not_add_up_are_judged_one_by_one(
    scene: DeployScene, robot: RobotDescription, state: RobotState
) -> None:
    assert scene.workspace is not None
    changed = scene.model_copy(update={"action": scene.action.model_copy(update={"counts_from": "hand"})})
    envelope, out = Envelope(changed, robot), np.tile(np.float32([1.0, 0.0, 0.0, 0.0]), (32, 1))
    near = replace(state, ee_position=np.array([scene.workspace.high[0] - 0.05, *state.ee_position[1:]]))
    edge = replace(state, ee_position=np.array([scene.workspace.high[0] - 0.005, *state.ee_position[1:]]))
    envelope.check(out, dim=4, dt=DT, age_s=0.0, state=near)
    for past in (0, 3):
        with pytest.raises(EnvelopeError, match=f"workspace: step {past} leads"):
            envelope.check(out, dim=4, dt=DT, age_s=0.0, state=edge, past=past)
    envelope.check_step(out[0], near)
    with pytest.raises(EnvelopeError, match="workspace: the next step"):
        envelope.check_step(out[0], edge)
