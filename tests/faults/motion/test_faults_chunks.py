"""Chunks that are wrong, lead out of bounds or come late: refused whole at the last boundary, and the arm holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from faults_deployment import SERVED, Deployed
from faults_files import HIGH, LOW
from faults_member import StandIn
from faults_truth import HORIZON_S, ages_of_executed_steps, beyond

FAILED, DEADLINE = 2, 3
GOOD = np.tile(np.float32([0.02, 0.0, 0.0, -1.0]), (16, 1))
MARKED = np.tile(np.float32([0.03, 0.0, 0.0, -1.0]), (16, 1))
"""What a bad chunk holds beside its fault: a step of it that is executed is known by its number in the record."""
LOUD, ALOUD = np.zeros(100, np.float32), "data: 100 numbers"
"""More numbers than stated, and what is said of them, however late they come."""
DECLARED_S = 0.05
"""[s] that the skill's manifest promises for a chunk."""
LOOK_EVERY = 20
"""Each so many bad chunks the world begins anew, and what the arm does after the refusal is looked at."""
Spoiled = tuple[Any, dict[str, Any]]
"""Actions (H, A), and fields of the message that are changed."""


def spoil_value(chance: np.random.Generator) -> Spoiled:
    """One number that is none, or far too large."""
    actions = MARKED.copy()
    bad = chance.choice(np.float32([np.nan, np.inf, -np.inf, 3.4e38, -1e30, 1.5, -1.01]))
    actions[chance.integers(16), chance.integers(4)] = bad
    return actions, {}


def spoil_length(chance: np.random.Generator) -> Spoiled:
    """Another count of numbers than stated."""
    size = int(chance.choice([0, 1, 3, 63, 65, 128, 4096]))
    return MARKED, {"data": np.zeros(size, np.float32).tolist()}


def spoil_shape(chance: np.random.Generator) -> Spoiled:
    """A shape that lies, or another dimension throughout."""
    if chance.random() < 0.5:
        dim = int(chance.choice([1, 3, 5, 7]))
        return np.zeros((16, dim), np.float32), {}
    horizon, dim = (int(chance.choice([1, 2, 8, 32, 2**31, 2**32 - 1])) for _ in range(2))
    return MARKED, {"horizon": horizon, "dim": dim}


def spoil_dt(chance: np.random.Generator) -> Spoiled:
    """Another rate."""
    return MARKED, {"dt": float(chance.choice([np.nan, np.inf, 0.0, -1 / 80, 1 / 40, 1e300, 5e-324]))}


def spoil_form(chance: np.random.Generator) -> Spoiled:
    """Actions in another representation."""
    return MARKED, {
        "representation": str(chance.choice(["", "joint_positions", "delta_ee", "\x00", "x" * 1000]))
    }


def spoil_age(chance: np.random.Generator) -> Spoiled:
    """An answer to an observation that is long past, or that nobody has made yet."""
    return MARKED, {"age_s": float(chance.choice([0.25, 0.3, -0.5, -60.0]))}


FAULTS: tuple[Callable[[np.random.Generator], Spoiled], ...] = (
    spoil_value,
    spoil_length,
    spoil_shape,
    spoil_dt,
    spoil_form,
    spoil_age,
)


def turned_away(sender: StandIn) -> int:
    """Return how many chunks were dropped at the door, as malformed or of nobody's goal; a second old at most."""
    told = sender.health = {}
    sender.until(lambda: sender.health is not told, "the bridge's diagnostics")
    return sum(int(sender.health.get(name, 0)) for name in ("malformed", "refused_at_the_door"))


def fuzz(shared: Deployed, count: int) -> int:
    """Send so many bad chunks, each into a motion; return how many steps the arm made after a refusal, at most.

    After each bad chunk goes one that is refused with a text of its own, so that the bad one has been seen when that
    refusal comes. None of them is turned away at the door: each counts for the goal that it names. A good one that
    comes late, as it may on a busy machine, is refused as well, and counts too.
    """
    chance, worst, aloud = np.random.default_rng(count), 0, 0
    with StandIn(shared.stack) as sender:
        goal, dropped, refused = sender.goal, turned_away(sender), sender.status[-1].rejected
        for index in range(count):
            before = sender.status[-1].rejected
            if index % LOOK_EVERY == 0:
                worst = max(worst, steps_after_a_refusal(shared, sender, chance))
                continue
            sender.send(GOOD)
            actions, changes = FAULTS[index % len(FAULTS)](chance)
            sender.send(actions, **changes)
            sender.send(GOOD, data=LOUD.tolist())
            aloud += 1
            sender.until(
                lambda before=before: (
                    sender.status[-1].rejected > before and ALOUD in sender.status[-1].last_rejection
                ),
                f"a refusal after {FAULTS[index % len(FAULTS)].__name__}",
            )
            del sender.status[:-2]
        refused, dropped = sender.status[-1].rejected - refused, turned_away(sender) - dropped
    assert refused >= count + aloud, f"{refused} refused of {count} + {aloud}"
    assert dropped == 0
    truth = shared.until_recorded()
    ours = ~truth["held"] & (truth["goals"][truth["goal"]] == goal)
    assert set(np.unique(truth["action"][ours][:, 0].astype(np.float32))) == {GOOD[0, 0]}
    assert np.isfinite(truth["action"]).all()
    assert np.isfinite(truth["qpos"]).all()
    assert np.abs(truth["action"]).max() <= 1.0
    assert worst <= 1, f"{worst} steps were executed after a refusal"
    return worst


def set_moving(sender: StandIn) -> None:
    """Send a good chunk, and another one where it came too late, until the arm moves."""
    while True:
        before = sender.status[-1]
        sender.send(GOOD)
        sender.until(
            lambda before=before: (
                sender.status[-1].executed > before.executed or sender.status[-1].rejected > before.rejected
            ),
            "an answer to a good chunk",
        )
        if sender.status[-1].executed > before.executed:
            return


def steps_after_a_refusal(shared: Deployed, sender: StandIn, chance: np.random.Generator) -> int:
    """Send a bad chunk into a motion from the middle of the workspace; return the steps made after its refusal."""
    begin_anew(shared, sender)
    set_moving(sender)
    before = sender.status[-1]
    actions, changes = chance.choice(FAULTS[:-1])(chance)
    sender.send(actions, **changes)
    sender.until(lambda: sender.status[-1].rejected > before.rejected, "a refusal")
    refusal = next(status for status in sender.status if status.rejected > before.rejected)
    assert refusal.last_rejection
    sender.until(lambda: sender.status[-1].held > refusal.held, "the arm to hold")
    return int(sender.status[-1].executed - refusal.executed)


def begin_anew(shared: Deployed, sender: StandIn) -> None:
    """Put the world back and wait until the bridge has said so."""
    shared.operator.reset("", -1)
    told = len(sender.status)
    sender.until(lambda: len(sender.status) > told, "the bridge's words after the reset")


def record_fuzz(figure: Any, count: int, worst: int) -> None:
    figure(
        row=1,
        injected="chunk with a bad number, length, shape, rate, form or stamp, into a motion",
        times=count,
        happened=f"{count} of {count} refused whole, the arm held",
        worst=worst,
        unit="steps after the refusal",
        bar="1 step",
    )


def test_bad_chunks_are_refused_whole(shared: Deployed, figure: Any) -> None:
    record_fuzz(figure, 60, fuzz(shared, 60))


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_ten_thousand_bad_chunks_are_refused_whole(shared: Deployed, figure: Any) -> None:
    record_fuzz(figure, 10_000, fuzz(shared, 10_000))


def over(status: Any) -> int:
    """Return how many steps of chunks have been executed, or came too late to be."""
    return int(status.executed + status.expired)


MARK = 1e-4
"""By how much the gripper's commands of two consecutive chunks differ."""


def wander(shared: Deployed, count: int) -> None:
    """Send so many chunks that lead in random directions, some of them out; the hand must stay in its workspace.

    The gripper's command tells by which chunk an action was executed; displacements of late chunks are corrected.
    """
    chance = np.random.default_rng(count)
    taken: set[int] = set()
    with StandIn(shared.stack) as sender:
        goal = sender.goal
        accepted = refused = 0
        for index in range(count):
            if index % 20 == 0:
                begin_anew(shared, sender)
            actions = np.tile(np.float32([0, 0, 0, index * MARK - 1]), (16, 1))
            actions[:, :3] = chance.uniform(-0.9, 0.9, 3).astype(np.float32)
            before = sender.status[-1]
            sender.send(actions)
            sender.until(
                lambda before=before: (
                    sender.status[-1].rejected > before.rejected
                    or over(sender.status[-1]) >= over(before) + 10
                ),
                "an answer to the chunk",
            )
            done = sender.status[-1].rejected == before.rejected
            accepted, refused = accepted + done, refused + (not done)
            if done:
                taken.add(index)
    assert accepted > count // 10, (accepted, refused)
    assert refused > count // 10, (accepted, refused)
    truth = shared.until_recorded()
    out = beyond(truth, LOW, HIGH)
    assert out <= 1e-3, f"the hand was {1e3 * out:.0f} mm outside its workspace"
    ours = ~truth["held"] & (truth["goals"][truth["goal"]] == goal)
    executed = np.unique(np.rint((truth["action"][ours][:, 3] + 1) / MARK).astype(int))
    assert set(executed.tolist()) <= taken, (
        "a chunk was executed that was not accepted: refused is not clamped"
    )


def test_no_accepted_chunk_leads_out_of_the_workspace(shared: Deployed, figure: Any) -> None:
    wander(shared, 20)
    figure(
        row=2,
        injected="chunk in a random direction, from anywhere in the workspace",
        times=20,
        happened="what would lead out was refused whole; every executed action is of a chunk that was accepted",
        worst=1e3 * beyond(shared.truth(), LOW, HIGH),
        unit="mm outside",
        bar="0 mm",
    )


def test_the_same_chunk_cannot_plan_beyond_what_a_skill_declares(shared: Deployed, figure: Any) -> None:
    """A chunk of a minute would move the arm for a minute after its sender is gone."""
    with StandIn(shared.stack) as sender:
        for horizon in (500, 4800):
            before = sender.status[-1]
            sender.send(np.tile(np.float32([0.001, 0, 0, -1]), (horizon, 1)))
            sender.until(
                lambda before=before: sender.status[-1].rejected > before.rejected, f"a refusal of {horizon}"
            )
            assert sender.status[-1].executed == before.executed
    figure(
        row=2,
        injected="chunk of 6 s and of 60 s",
        times=2,
        happened="refused: longer than its skill declares",
        bar="the skill's horizon, 5 s at most",
    )


@pytest.mark.parametrize("times", [3, 10])
def test_late_answers_are_cut_or_refused_and_never_executed_late(
    shared: Deployed, figure: Any, times: int
) -> None:
    shared.operator.reset("", -1)
    before = shared.status
    shared.world.turn(delay_s=times * DECLARED_S)
    result = shared.operator.run_skill(SERVED, "open the drawer", 2.0)()
    assert result.outcome in (FAILED, DEADLINE), result
    if result.outcome == FAILED:
        assert "the policy is too slow" in result.message
    shared.operator.until(lambda: shared.status.holding, "the arm to hold")
    oldest = float(ages_of_executed_steps(shared.until_recorded()).max())
    assert oldest <= HORIZON_S + 1 / 80, (
        f"a step was executed {oldest:.3f} s after the observation it answers"
    )
    expired, held = shared.status.expired - before.expired, shared.status.held - before.held
    assert expired > 0
    assert held > 0
    figure(
        row=9,
        injected=f"the sidecar answers {times} times slower than declared",
        times=1,
        happened=f"{expired} late steps cut, {held} steps held, the goal ended: {result.check}",
        worst=1e3 * oldest,
        unit="ms from observation to motion",
        bar="200 ms, the chunk's own horizon",
    )
