"""A chunk that comes late leads the hand back to its own path."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from openral_control.catch_up import CatchUp
from openral_control.chunk_executor import ChunkExecutor
from openral_control.chunk_queue import Chunk
from openral_core.errors import EnvelopeError
from openral_core.scene import SceneAction
from openral_core.types import RobotState

HZ, DIM = 10.0, 4
DELTA = "delta_ee_3d_plus_gripper"


def contract(**fields: object) -> SceneAction:
    given = {
        "representation": DELTA,
        "dim": DIM,
        "low": [-1] * DIM,
        "high": [1] * DIM,
        "step_m": 0.01,
        **fields,
    }
    return SceneAction.model_validate(given)


def rows(*x: float) -> NDArray[np.float32]:
    """Rows that move along x, with a closing gripper."""
    made = np.zeros((len(x), DIM), np.float32)
    made[:, 0], made[:, 3] = x, 1
    return made


NOTHING = np.full((2, DIM), np.nan, np.float32)


def test_the_sum_of_the_rows_is_made_up_for_and_the_gripper_is_left_alone() -> None:
    rest = CatchUp(contract()).rows(rows(0.3, 0.3, 0.1, 0.1, 0.1), rows(0.1, 0.1))

    np.testing.assert_allclose(rest[:, 0], [0.3, 0.3, 0.1], atol=1e-6)
    np.testing.assert_array_equal(rest[:, 1:], rows(0, 0, 0)[:, 1:])


def test_what_the_limits_do_not_allow_is_left_to_later_rows() -> None:
    rest = CatchUp(contract()).rows(rows(1, 1, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8), rows(0.5, 0.5))

    np.testing.assert_allclose(rest[:, 0], [1, 1, 1, 1, 1, 0.8], atol=1e-6)


@pytest.mark.parametrize(
    ("fields", "executed"),
    [
        ({}, NOTHING),
        ({}, rows(0.3, 0.3)),
        ({"counts_from": "hand"}, rows(0, 0)),
        ({"representation": "delta_joints_plus_gripper", "step_rad": 0.1}, rows(0, 0)),
        ({"representation": "joint_positions"}, rows(0, 0)),
    ],
)
def test_a_chunk_is_executed_as_it_is_where_nothing_is_owed_or_displacements_do_not_add_up(
    fields: dict[str, object], executed: NDArray[np.float32]
) -> None:
    actions = rows(0.3, 0.3, 0.1, 0.1)
    np.testing.assert_array_equal(CatchUp(contract(**fields)).rows(actions, executed), actions[2:])


class Strict:
    """Refuses rows beyond a limit."""

    def __init__(self, most: float) -> None:
        self.most = most

    def check(self, data: NDArray[np.floating], **_: object) -> None:
        if np.abs(data[:, 0]).max() > self.most:
            raise EnvelopeError("step size: too fast")

    def check_step(self, action: NDArray[np.floating], state: object) -> None:
        return


def executor(most: float = 1.0) -> ChunkExecutor:
    return ChunkExecutor(
        HZ,
        Strict(most),
        lambda last: np.zeros(DIM, np.float32),
        representation=DELTA,
        catch_up=CatchUp(contract()),
    )


def chunk(step: int, *x: float, goal: str = "a" * 32) -> Chunk:
    """A chunk that answers the observation of a control step."""
    return Chunk(step / HZ, goal, "skill", "go", DELTA, step + 1, len(x), DIM, 1 / HZ, rows(*x).ravel())


def run(arm: ChunkExecutor, first: int, last: int) -> list[float]:
    return [round(float(arm.next(step)[0][0]), 6) for step in range(first, last)]


def test_a_late_chunk_is_corrected_by_what_its_own_goal_has_executed_meanwhile() -> None:
    arm = executor()
    assert arm.offer(chunk(0, *[0.1] * 6), 0, None) is None
    assert run(arm, 0, 4) == [0.1] * 4
    assert arm.offer(chunk(2, *[0.3] * 8), 4, None) is None  # two steps late, by 0.4 in all

    assert run(arm, 4, 9) == [0.5, 0.5, 0.3, 0.3, 0.3]


def test_the_first_chunk_of_a_goal_is_not_made_up_for_after_a_hold_or_another_goal() -> None:
    arm = executor()
    arm.offer(chunk(0, *[0.1] * 6), 0, None)
    run(arm, 0, 4)
    arm.offer(chunk(2, *[0.3] * 8, goal="b" * 32), 4, None)

    assert run(arm, 4, 7) == [0.3, 0.3, 0.3]


def test_an_operator_s_chunk_is_executed_as_it_is() -> None:
    arm = executor()
    arm.take_over("ann", "c" * 32)
    for step in range(4):  # the motion fades in
        arm.next(step)
    arm.offer(chunk(4, *[0.4] * 8, goal="c" * 32), 4, None)
    assert run(arm, 4, 8)[-1] == 0.4
    assert arm.offer(chunk(6, *[0.0] * 8, goal="c" * 32), 8, None) is None

    assert run(arm, 8, 12) == [0.0] * 4, "an arm that was let go does not go back"


def test_a_correction_that_would_leave_the_envelope_is_not_made() -> None:
    arm = executor(most=0.35)
    arm.offer(chunk(0, *[0.1] * 6), 0, None)
    run(arm, 0, 4)

    assert arm.offer(chunk(2, *[0.3] * 8), 4, None) is None
    assert run(arm, 4, 7) == [0.3, 0.3, 0.3]


def at(x: float) -> RobotState:
    """The state of a robot whose set point is at x [m]."""
    target = np.array([x, 0.0, 0.0])
    return RobotState(0.0, (), np.zeros(0), target, np.array([0.0, 0.0, 0.0, 1.0]), 0.0, ee_target=target)


@pytest.mark.parametrize(
    ("set_points", "expected"),
    [
        ((0.0, 0.004, 0.008, 0.012), [-0.4, -0.4, 0.0]),
        ((0.0, 0.0, 0.0, 0.0), [0.0, 0.0, 0.0]),
        ((0.0, 0.004, 0.008, 0.008), [0.0, 0.0, 0.0]),
    ],
    ids=["it followed", "it was stopped", "it stopped at last"],
)
def test_only_what_the_set_point_followed_is_made_up_for(
    set_points: tuple[float, ...], expected: list[float]
) -> None:
    arm = executor()
    arm.offer(chunk(0, *[0.4] * 6), 0, at(0.0))
    for step, x in enumerate(set_points[:3]):
        assert arm.check_next(step, at(x)) is None
        arm.next(step)
    # The policy sees that the hand is where it shall be.
    arm.offer(chunk(1, *[0.0] * 8), 3, at(set_points[3]))

    assert run(arm, 3, 6) == expected
