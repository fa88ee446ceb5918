"""Faults in a running deployment: one clear error each, the arm holds, and the deployment lives on."""

from __future__ import annotations

import re
import signal

from system_files import moved_while_held, until_recorded
from system_operator import Operator
from system_stack import Stack

FAILED, DEADLINE, CANCELED = 2, 3, 4


def run(faulty: tuple[Stack, Operator], slug: str, deadline_s: float = 20.0) -> tuple[object, list[str]]:
    """Run a skill to its end; return the result and the new error lines."""
    stack, operator = faulty
    before = stack.errors
    result = operator.run_skill(slug, "open the drawer", deadline_s)()
    operator.assert_holding()
    return result, stack.errors[len(before) :]


def test_a_good_skill_moves_the_arm_until_its_deadline(faulty):
    _, operator = faulty
    rejected = operator.status[-1].rejected
    result, errors = run(faulty, "good", deadline_s=1.0)
    assert (result.outcome, result.check, errors) == (DEADLINE, "deadline", [])
    assert result.steps > 20
    assert operator.status[-1].rejected == rejected


def test_numbers_that_are_not_finite(faulty):
    _, operator = faulty
    rejected = operator.status[-1].rejected
    result, errors = run(faulty, "nan")
    assert (result.outcome, result.check) == (FAILED, "envelope")
    assert "finite: step 0, number 0 is nan" in result.message
    assert len(errors) == 1, errors
    # Three, or more where the word of it comes late.
    assert re.search(r"FAILED \(envelope\): the bridge refused \d+ chunks in a row: finite", errors[0]), (
        errors
    )
    assert operator.status[-1].rejected >= rejected + 3
    assert "nan" in operator.status[-1].last_rejection


def test_a_policy_with_a_wrong_dimension(faulty):
    _, operator = faulty
    executed, rejected = operator.status[-1].executed, operator.status[-1].rejected
    result, errors = run(faulty, "misshapen")
    assert (result.outcome, result.check) == (FAILED, "policy_error")
    assert len(errors) == 1, errors
    assert "(1, 16, 3), its manifest promises float32 (1, 16, 4)" in errors[0]
    assert operator.status[-1].executed <= executed + 16 * 10, "only its good chunks were executed"
    assert operator.status[-1].rejected == rejected, "the policy node kept the bad chunk to itself"


def test_a_chunk_with_a_wrong_dimension_from_somebody_else(faulty):
    stack, operator = faulty
    rejected, executed = operator.status[-1].rejected, operator.status[-1].executed
    for _ in range(5):  # on a crowded machine one may come so late that it is refused for that
        operator.send_chunk(dim=3, data=[0.1, 0.0, 0.0] * 16)
        rejected += 1
        operator.until(lambda count=rejected: operator.status[-1].rejected == count, "a refusal")
        if "dimension" in operator.status[-1].last_rejection:
            break
    assert "dimension" in operator.status[-1].last_rejection
    stack.until_says("of tests/by-hand, the arm holds: dimension")
    operator.assert_holding()
    assert operator.status[-1].executed == executed


def test_a_stale_camera(faulty):
    stack, operator = faulty
    before = stack.errors
    result = operator.run_skill("good", "open the drawer", 60.0)
    operator.until_moving()
    bridge = stack.node("sim_bridge")
    bridge.send_signal(signal.SIGSTOP)
    try:
        ended = result()
    finally:
        bridge.send_signal(signal.SIGCONT)
    assert (ended.outcome, ended.check) == (FAILED, "stale_observation")
    operator.assert_holding()
    errors = stack.errors[len(before) :]
    assert len(errors) == 1, errors
    assert "is the bridge alive, and does every camera of the scene publish?" in errors[0]
    again, errors = run(faulty, "good", deadline_s=1.0)
    assert (again.outcome, errors) == (DEADLINE, []), "the skill recovers when images come again"


def test_a_policy_node_that_is_killed_is_started_again(faulty):
    stack, operator = faulty
    operator.send_goal("good", "open the drawer", 60.0)
    goal = operator.until_moving()
    [node] = [process for process in stack.processes() if "__node:=good" in process.cmdline()]
    operator.skills.pop("good")
    node.kill()
    operator.until(lambda: operator.status[-1].active_goal != goal, "the end of the motion")
    operator.assert_holding()
    operator.until_active("good")
    assert stack.said("ended with -9; it is started again, 2 times more at most") == 1
    result, errors = run(faulty, "good", deadline_s=1.0)
    while result.outcome == CANCELED:  # by the reasoner: a lost skill may only have hung
        result, errors = run(faulty, "good", deadline_s=1.0)
    assert (result.outcome, errors) == (DEADLINE, [])


def test_the_set_point_moves_in_no_step_that_holds(faulty):
    """In any of the tests above."""
    stack, operator = faulty
    truth = until_recorded(stack.folder / "run", operator)
    assert truth["held"].any()
    assert not moved_while_held(truth)
