"""Taking the arm from a policy and giving it back, by the executor: who is listened to, and how large the seams are."""

from __future__ import annotations

import numpy as np
import pytest

from openral_control.chunk_executor import ChunkExecutor
from openral_control.chunk_queue import Chunk
from openral_control.envelope import Envelope
from openral_control.handover_blend import SEAM_S, Seam
from openral_control.intervention import InterventionPhase
from openral_core.errors import ControlError
from openral_core.robot import load_robot
from openral_core.scene import load_scene
from openral_core.types import RobotState

SCENE = load_scene("metaworld_drawer")
HZ = SCENE.control_hz
STEPS = round(SEAM_S * HZ)
POLICY, HAND = "a" * 32, "b" * 32
MIDDLE = np.array([0.0, 0.6, 0.2])


def hold(last):
    return np.array([0.0, 0.0, 0.0, -1.0 if last is None else last[3]])


class Bench:
    """An executor under the scene's own envelope, stepped by hand, with all that it gave to the arm."""

    def __init__(self) -> None:
        robot = load_robot(SCENE.robot_id)
        self.executor = ChunkExecutor(
            HZ, Envelope(SCENE, robot), hold, representation=SCENE.action.representation
        )
        self.state = RobotState(0.0, (), np.zeros(0), MIDDLE, np.array([0.0, 0.0, 0.0, 1.0]), 0.05)
        self.step = 0
        self.actions: list[np.ndarray] = []

    def offer(self, goal: str, row, *, answers: int | None = None, horizon: int = 12) -> str | None:
        data = np.tile(np.asarray(row, np.float32), (horizon, 1))
        stamp_s = (self.step if answers is None else answers) / HZ
        words = "open the drawer" if goal == POLICY else "by hand"
        chunk = Chunk(
            stamp_s,
            goal,
            "t/s",
            words,
            SCENE.action.representation,
            0,
            horizon,
            4,
            1 / HZ,
            data.reshape(-1),
        )
        return self.executor.offer(chunk, self.step, self.state)

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.executor.check_next(self.step, self.state)
            self.actions.append(np.asarray(self.executor.next(self.step)[0]))
            self.step += 1

    def drive(self, goal: str, row, steps: int) -> None:
        """Let a goal command the same row for so many steps, with a chunk at every fourth."""
        for _ in range(0, steps, 4):
            assert self.offer(goal, row) is None
            self.run(4)

    @property
    def phase(self) -> InterventionPhase:
        return self.executor.intervention.phase(self.executor.active_goal)

    def largest_change(self, first: int, last: int) -> float:
        """Largest change of a number of the motion between two steps, the gripper's left out."""
        rows = np.stack(self.actions)[max(first - 1, 0) : last, :3]
        return float(np.abs(np.diff(rows, axis=0)).max())


FAST, BACK = [0.9, -0.9, 0.3, 1.0], [-0.8, 0.8, 0.0, 1.0]


def test_the_whole_way_is_without_a_jerk_at_either_seam_and_keeps_the_fingers() -> None:
    bench = Bench()
    bench.drive(POLICY, FAST, 24)
    assert (bench.phase, bench.executor.intervention.commander(POLICY)) == (
        InterventionPhase.AUTONOMOUS,
        "policy",
    )
    taken = bench.step
    bench.executor.take_over("anna", HAND)
    assert bench.phase is InterventionPhase.PAUSED
    bench.run(STEPS + 4)
    assert bench.actions[-1].tolist() == [0.0, 0.0, 0.0, 1.0]  # at rest, and the fingers stay closed
    bench.drive(HAND, BACK, 24)
    assert bench.phase is InterventionPhase.CORRECTING
    given = bench.step
    bench.executor.give_back()
    assert (bench.phase, bench.executor.active_goal) == (InterventionPhase.AUTONOMOUS, POLICY)
    bench.run(2)
    bench.drive(POLICY, FAST, 24)
    np.testing.assert_allclose(bench.actions[-1], FAST, atol=1e-6)
    rows = np.stack(bench.actions)
    assert (rows[:, 3] == 1.0).all()
    # From full speed one way to full speed the other way, spread over the steps of a seam.
    bound = 1.8 / (STEPS + 1) + 1e-6
    assert bench.largest_change(taken, given) <= bound
    assert bench.largest_change(given, bench.step) <= bound
    # The same without the fade would be a jump of the whole speed.
    assert bound < 0.2 * np.abs(np.subtract(FAST, BACK)).max()


def test_chunks_of_the_policy_are_refused_without_blame_while_the_operator_has_the_arm() -> None:
    bench = Bench()
    bench.drive(POLICY, FAST, 8)
    bench.executor.take_over("anna", HAND)
    for _ in range(5):
        assert "anna has the arm" in (bench.offer(POLICY, FAST) or "")
    assert bench.executor.counters.rejected == 0
    assert bench.executor.last_rejection == ""
    waits = bench.executor.intervention.waits
    assert waits is not None
    assert (waits.goal_id, waits.instruction) == (POLICY, "open the drawer")


def test_an_operator_who_takes_the_arm_from_another_is_the_only_one_who_is_heard() -> None:
    bench, other = Bench(), "c" * 32
    bench.drive(POLICY, (0.5, 0, 0, -1), 12)
    bench.executor.take_over("tablet", HAND)
    bench.run(2 * STEPS)
    bench.drive(HAND, (0, 0.5, 0, -1), 12)
    bench.executor.take_over("desk", other)
    bench.run(2 * STEPS)
    assert bench.offer(HAND, (0, 0.5, 0, -1)) is not None
    bench.drive(other, (0, 0, 0.5, -1), 12)
    bench.executor.give_back()
    assert bench.executor.active_goal == POLICY
    assert bench.offer(HAND, (0, 0.5, 0, -1)) is not None


def test_nothing_is_planned_ahead_while_a_motion_fades() -> None:
    bench = Bench()
    bench.drive(POLICY, (0.5, 0, 0, -1), 12)
    assert len(bench.executor.coming())
    bench.executor.take_over("desk", HAND)
    assert bench.offer(HAND, (0, 0.5, 0, -1)) is None
    bench.run(1)
    assert bench.executor.coming().shape == (0, 0)
    bench.drive(HAND, (0, 0.5, 0, -1), 4 * STEPS)
    assert len(bench.executor.coming())


def test_after_the_arm_is_given_back_only_what_answers_a_fresh_observation_counts() -> None:
    bench = Bench()
    bench.drive(POLICY, FAST, 8)
    bench.executor.take_over("anna", HAND)
    bench.drive(HAND, BACK, 8)
    before = bench.step - 1
    bench.executor.give_back()
    assert bench.offer(POLICY, FAST, answers=before) is not None
    assert bench.offer(HAND, BACK) == f"goal {HAND} has ended or been replaced by a newer one"
    assert bench.offer(POLICY, FAST) is None


def test_a_goal_that_was_broken_off_does_not_go_on_because_the_operator_is_gone() -> None:
    bench = Bench()
    bench.drive(POLICY, FAST, 8)
    bench.executor.take_over("anna", HAND)
    bench.drive(HAND, BACK, 8)
    bench.executor.offer(Chunk.end_of(HAND), bench.step, bench.state)
    bench.run(1)
    assert bench.executor.holding
    assert bench.phase is InterventionPhase.PAUSED
    assert bench.offer(POLICY, FAST) is not None
    bench.executor.give_back()
    assert bench.offer(POLICY, FAST) is None


def test_without_a_goal_that_waits_the_arm_is_free_when_the_operator_is_gone() -> None:
    bench = Bench()
    bench.executor.take_over("anna", HAND)
    bench.drive(HAND, BACK, 8)
    bench.executor.offer(Chunk.end_of(HAND), bench.step, bench.state)
    assert bench.phase is InterventionPhase.AUTONOMOUS
    assert bench.offer(POLICY, FAST) is None


def test_a_goal_that_is_cancelled_while_it_waits_does_not_come_back() -> None:
    bench = Bench()
    bench.drive(POLICY, FAST, 8)
    bench.executor.take_over("anna", HAND)
    bench.executor.offer(Chunk.end_of(POLICY), bench.step, bench.state)
    bench.executor.give_back()
    assert bench.executor.active_goal == ""
    assert bench.offer(POLICY, FAST) is not None


def test_the_emergency_stop_ends_an_intervention_at_once_and_refuses_one() -> None:
    bench = Bench()
    bench.drive(POLICY, FAST, 8)
    bench.executor.take_over("anna", HAND)
    bench.executor.stop()
    bench.run(1)
    assert not bench.actions[-1][:3].any()
    assert bench.phase is InterventionPhase.AUTONOMOUS
    with pytest.raises(ControlError, match="emergency stop"):
        bench.executor.take_over("anna", HAND)


def test_what_fades_out_stops_at_the_wall_of_the_workspace() -> None:
    bench = Bench()
    bench.drive(POLICY, FAST, 8)
    bench.executor.take_over("anna", HAND)
    edge = bench.state.ee_position.copy()
    edge[0] = SCENE.workspace.high[0]
    bench.state = RobotState(0.0, (), np.zeros(0), edge, bench.state.ee_quaternion, 0.05)
    bench.run(1)
    assert not bench.actions[-1][:3].any()


def test_set_points_fade_too() -> None:
    seam = Seam(100.0, "joint_positions")
    seam.begin(np.zeros(7), 0)
    path = np.stack([seam.blend(np.ones(7), step) for step in range(20)])
    assert np.diff(path[:, 0], prepend=0.0).max() <= 1 / 16 + 1e-9
    assert path[-1].tolist() == [1.0] * 7
    assert not seam.is_open


def test_a_reset_ends_the_motion_that_a_take_over_would_fade_out() -> None:
    bench = Bench()
    bench.drive(POLICY, [0.5, 0, 0, 1], 4)
    bench.executor.restart(bench.step)
    bench.executor.take_over("ann", "")
    bench.run(STEPS)

    assert not np.stack(bench.actions)[4:, :3].any()


def test_a_stop_ends_the_motion_that_a_take_over_would_fade_out() -> None:
    bench = Bench()
    bench.drive(POLICY, [0.5, 0, 0, 1], 4)
    bench.executor.stop()
    bench.executor.release()
    bench.executor.take_over("ann", "")
    bench.run(STEPS)

    assert not np.stack(bench.actions)[4:, :3].any()


def test_giving_the_arm_back_after_a_reset_lets_no_chunk_from_before_the_reset_pass() -> None:
    bench = Bench()
    bench.drive(POLICY, [0.5, 0, 0, 1], 4)
    bench.executor.take_over("ann", "")
    bench.run(2)
    bench.step += 3  # as after a loop that skipped steps
    bench.executor.restart(bench.step)
    bench.executor.give_back()

    assert "before the scene was reset" in (bench.offer(POLICY, [0.5, 0, 0, 1], answers=bench.step - 2) or "")


@pytest.mark.parametrize("goal", [POLICY, HAND])
def test_a_stop_ends_the_paused_goal_and_the_operator_s_even_before_its_first_chunk(goal: str) -> None:
    bench = Bench()
    bench.drive(POLICY, [0.5, 0, 0, 1], 4)
    bench.executor.take_over("ann", HAND)
    bench.run(STEPS)
    bench.executor.stop()
    bench.run(1)
    bench.executor.release()

    assert "has ended" in (bench.offer(goal, [0.5, 0, 0, 1]) or "")
