from __future__ import annotations

import pytest

from openral_core.instant import Instant
from openral_policy_nodes.goal_supervisor import (
    BridgeStatus,
    GoalEnd,
    GoalOutcome,
    GoalSupervisor,
    InferenceHealth,
    Limits,
)

LIMITS = Limits(frame_period_s=0.05)
IDLE = InferenceHealth()


def watch(deadline_s: float = 30.0, status: BridgeStatus | None = None) -> GoalSupervisor:
    return GoalSupervisor("me", deadline_s, LIMITS, Instant(100.0, 0.0), status)


def check(
    supervisor: GoalSupervisor, now_s: float, wall_s: float, worker: InferenceHealth = IDLE, **flags: bool
) -> str:
    verdict = supervisor.verdict(
        Instant(now_s, wall_s),
        worker,
        cancel=flags.get("cancel", False),
        estopped=flags.get("estopped", False),
    )
    return verdict.check if verdict else "goes on"


def test_goal_with_fresh_frames_goes_on_until_its_deadline():
    supervisor = watch(deadline_s=5.0)
    for index in range(1, 100):
        supervisor.on_fresh_observation(Instant(100.0 + 0.05 * index, 0.05 * index))
        assert check(supervisor, 100.0 + 0.05 * index, 0.05 * index) == "goes on"
    verdict = supervisor.verdict(Instant(105.0, 5.0), IDLE, cancel=False, estopped=False)
    assert verdict is not None
    assert (verdict.outcome, verdict.check) == (GoalOutcome.DEADLINE, "deadline")


def test_a_goal_that_failed_names_what_keeps_the_arm_from_moving():
    status = BridgeStatus("me", 0, "", 0, "", stopped_by="hold to run")
    short = GoalEnd(GoalOutcome.FAILED, "motion", "the hand stands 14.8 cm short of the target")
    moment = Instant(101.0, 1.0)
    told = watch(status=status).verdict(moment, InferenceHealth(end=short), cancel=False, estopped=False)
    assert told is not None
    assert told.message == f"{short.message}; the bridge keeps the arm from moving: hold to run"
    there = GoalEnd(GoalOutcome.SUCCEEDED, "motion", "the hand is 1 mm from the target")
    for known, end in ((status, there), (BridgeStatus("me", 0, "", 0, ""), short)):
        run = watch(status=known)
        assert run.verdict(moment, InferenceHealth(end=end), cancel=False, estopped=False) == end


@pytest.mark.parametrize("mode", ["reflex: joint_reflex", "user stopped", "guiding", "fault"])
def test_a_goal_ends_where_the_arm_takes_no_commands_any_more(mode):
    """Else the arm would move at once when its user stop is released."""
    run = watch(status=BridgeStatus("me", 0, "", 0, "", stopped_by="user stopped"))
    assert check(run, 101.0, 1.0) == "goes on", "that was before the goal"
    run.on_status(BridgeStatus("me", 0, "", 0, "", stopped_by="hold to run"), chunks_sent=1)
    assert check(run, 101.0, 1.0) == "goes on"
    run.on_status(BridgeStatus("", 0, "", 0, "", stopped_by=mode), chunks_sent=1)
    ended = run.verdict(Instant(101.0, 1.0), IDLE, cancel=False, estopped=False)
    assert ended is not None
    assert (ended.outcome, ended.check) == (GoalOutcome.FAILED, "arm")
    assert f"the arm takes no commands ({mode})" in ended.message


def test_goal_accepted_before_the_first_time_begins_with_it():
    supervisor = GoalSupervisor("me", 5.0, LIMITS, Instant(0.0, 0.0), None)
    assert check(supervisor, 0.0, 0.5) == "goes on"
    assert check(supervisor, 40.0, 1.5) == "goes on"
    assert supervisor.elapsed_s(42.0) == 2.0


def test_a_goal_ends_where_its_clock_was_set_back_since_its_deadline_would_not_come():
    supervisor = watch(deadline_s=5.0)
    supervisor.on_fresh_observation(Instant(103.0, 3.0))
    assert check(supervisor, 99.5, 3.1) == "goes on", "stamps and clock come on two topics"
    supervisor.on_fresh_observation(Instant(0.1, 4.0))
    verdict = supervisor.verdict(Instant(0.1, 4.0), IDLE, cancel=False, estopped=False)
    assert verdict is not None
    assert (verdict.outcome, verdict.check) == (GoalOutcome.FAILED, "clock")
    assert "99.9 s before the goal began" in verdict.message


def test_estop_goes_before_everything_else():
    verdict = watch().verdict(Instant(100.0, 0.0), InferenceHealth(error="x"), cancel=True, estopped=True)
    assert verdict is not None
    assert verdict.outcome == GoalOutcome.ESTOPPED
    assert check(watch(), 100.0, 0.0, cancel=True) == "client_cancel"


def test_failed_and_hanging_policies_are_errors():
    assert check(watch(), 100.0, 0.0, InferenceHealth(error="boom")) == "policy_error"
    assert check(watch(), 100.0, 0.0, InferenceHealth(busy_s=9.0)) == "goes on"
    assert check(watch(), 100.0, 0.0, InferenceHealth(busy_s=11.0)) == "policy_error"
    for busy_s, known in ((100.0, "goes on"), (121.0, "policy_error")):
        worker = InferenceHealth(busy_s=busy_s, deadline_s=120.0)
        assert check(watch(), 100.0, 0.0, worker) == known


@pytest.mark.parametrize(
    ("now_s", "wall_s", "expected"),
    [
        (100.9, 0.9, "goes on"),
        (101.1, 1.1, "stale_observation"),
        (100.1, 2.0, "goes on"),  # a slow simulation: two seconds are two frame periods
        (100.0, 3.1, "stale_observation"),  # the clock itself has stopped
        (110.0, 0.5, "goes on"),  # a fast simulation: ten seconds in half a second
    ],
)
def test_staleness_needs_both_clocks_or_a_dead_bridge(now_s, wall_s, expected):
    assert check(watch(), now_s, wall_s) == expected


def test_lockstep_world_may_stand_still_while_the_policy_thinks():
    status = BridgeStatus("me", 0, "", 0, "", lockstep=True)
    assert check(watch(status=status), 100.0, 8.0, InferenceHealth(busy_s=8.0)) == "goes on"
    assert check(watch(status=status), 100.0, 8.0, InferenceHealth(last_done_s=7.5)) == "goes on"
    assert check(watch(status=status), 100.0, 8.0, InferenceHealth(last_done_s=4.0)) == "stale_observation"


def test_three_refused_chunks_in_a_row_end_the_goal():
    supervisor = watch(status=BridgeStatus("other", 50, "other", 7, ""))
    supervisor.on_status(BridgeStatus("me", 50, "me", 1, "nan"), chunks_sent=1)
    supervisor.on_status(BridgeStatus("me", 50, "me", 2, "nan"), chunks_sent=2)
    assert check(supervisor, 100.0, 0.1) == "goes on"
    supervisor.on_status(BridgeStatus("me", 54, "me", 0, ""), chunks_sent=3)
    supervisor.on_status(BridgeStatus("me", 54, "me", 2, "nan"), chunks_sent=5)
    assert check(supervisor, 100.0, 0.1) == "goes on"
    supervisor.on_status(BridgeStatus("me", 54, "me", 3, "step 3 is nan"), chunks_sent=6)
    verdict = supervisor.verdict(Instant(100.0, 0.1), IDLE, cancel=False, estopped=False)
    assert verdict is not None
    assert verdict.check == "envelope"
    assert "step 3 is nan" in verdict.message


def test_refusals_of_other_peoples_chunks_do_not_count():
    supervisor = watch(status=BridgeStatus("me", 0, "", 0, ""))
    supervisor.on_status(BridgeStatus("me", 0, "me", 2, "bad"), chunks_sent=9)
    for streak in range(1, 50):
        supervisor.on_status(BridgeStatus("me", 0, "other", streak, "bad"), chunks_sent=9)
    assert check(supervisor, 100.0, 0.1) == "goes on"
    supervisor.on_status(BridgeStatus("me", 9, "other", 50, "bad"), chunks_sent=9)
    assert check(supervisor, 100.0, 0.1) == "goes on"


@pytest.mark.parametrize(
    ("active", "executed", "expected"),
    [("me", 5, "goes on"), ("me", 4, "envelope"), ("other", 5, "envelope")],
)
def test_refusals_are_forgotten_once_a_step_of_the_goal_is_executed(active, executed, expected):
    supervisor = watch(status=BridgeStatus("me", 4, "", 0, ""))
    supervisor.on_status(BridgeStatus("me", 4, "me", 3, "bad"), chunks_sent=9)
    assert check(supervisor, 100.0, 0.1) == "envelope"
    supervisor.on_status(BridgeStatus(active, executed, "other", 1, "bad"), chunks_sent=9)
    assert check(supervisor, 100.0, 0.1) == expected


def test_no_more_chunks_can_be_refused_than_were_sent():
    supervisor = watch(status=BridgeStatus("", 0, "", 0, ""))
    supervisor.on_status(BridgeStatus("", 0, "me", 50, "bad"), chunks_sent=2)
    assert check(supervisor, 100.0, 0.1) == "goes on"


def test_one_refusal_is_enough_in_lockstep_because_the_world_waits_for_that_chunk():
    supervisor = watch(status=BridgeStatus("me", 0, "", 0, "", lockstep=True))
    supervisor.on_status(BridgeStatus("me", 0, "me", 1, "too fast", lockstep=True), chunks_sent=1)
    assert check(supervisor, 100.0, 1.0) == "goes on"
    assert check(supervisor, 100.0, 3.5) == "envelope"


def test_a_stop_condition_goes_before_the_deadline_and_behind_every_fault():
    stopped = GoalEnd(GoalOutcome.STOPPED, "stop_when", "it is there", "reached")
    late, early = Instant(131.0, 0.5), Instant(101.0, 0.5)
    for now in (late, early):
        assert watch().verdict(now, IDLE, cancel=False, estopped=False, stopped=stopped) == stopped
    for worker, flags in (
        (InferenceHealth(error="boom"), {}),
        (IDLE, {"cancel": True}),
        (IDLE, {"estopped": True}),
    ):
        ways = {"cancel": False, "estopped": False, **flags}
        verdict = watch().verdict(early, worker, stopped=stopped, **ways)
        assert verdict is not None
        assert verdict.outcome is not GoalOutcome.STOPPED


def test_a_goal_waits_while_an_operator_has_the_arm_and_its_deadline_with_it():
    supervisor = watch(deadline_s=5.0)
    supervisor.on_fresh_observation(Instant(103.0, 3.0))
    supervisor.pause(Instant(103.0, 3.0))
    supervisor.pause(Instant(129.9, 29.9))  # as each status of the bridge says again
    assert check(supervisor, 130.0, 30.0) == "goes on"  # neither late nor stale
    assert check(supervisor, 130.0, 30.0, InferenceHealth(error="it broke")) == "goes on"
    assert supervisor.elapsed_s(130.0) == 3.0
    supervisor.go_on(Instant(130.0, 30.0))
    supervisor.on_fresh_observation(Instant(131.9, 31.9))
    assert check(supervisor, 131.9, 31.9) == "goes on"
    assert check(supervisor, 132.0, 32.0) == "deadline"


@pytest.mark.parametrize(("flag", "ends"), [("cancel", "client_cancel"), ("estopped", "estop")])
def test_a_goal_that_waits_can_be_cancelled_and_stopped(flag, ends):
    supervisor = watch()
    supervisor.pause(Instant(101.0, 1.0))
    assert check(supervisor, 102.0, 2.0, **{flag: True}) == ends


def test_a_goal_that_waits_ends_with_its_bridge():
    """Else it would move the arm as soon as somebody starts the bridge again."""
    supervisor = watch()
    for second in range(1, 60):
        supervisor.pause(Instant(100.0 + second, float(second)))
        assert check(supervisor, 100.0 + second, second + 0.9) == "goes on"
    assert check(supervisor, 161.0, 61.9) == "goes on"
    verdict = supervisor.verdict(Instant(162.1, 62.1), IDLE, cancel=False, estopped=False)
    assert verdict is not None
    assert (verdict.outcome, verdict.check) == (GoalOutcome.FAILED, "stale_observation")
    assert "the bridge has said nothing for 3.1 s while an operator had the arm" in verdict.message
