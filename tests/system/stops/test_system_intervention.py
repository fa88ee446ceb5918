"""An operator takes the arm from a running policy and gives it back, over real nodes and a real simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from openral.srv import Intervene
from system_files import until_recorded
from system_operator import ENDED, Operator
from system_stack import Stack

from openral_cli.deploy.run_page import run_page
from openral_control.handover_blend import SEAM_S

HAND = "b" * 32
pytestmark = pytest.mark.timeout(240)


def intervene(graph: Operator, **fields: Any) -> Any:
    return graph.call(Intervene, "/openral/intervene", **fields)


# Nine seconds are longer than the policy's deadline of 8 s.
@pytest.mark.parametrize(
    "seconds", [pytest.param(2, marks=pytest.mark.slow), pytest.param(9, marks=pytest.mark.long)]
)
def test_a_policy_that_is_interrupted_waits_replans_and_finishes(
    drawer: tuple[Stack, Operator], seconds: int
) -> None:
    stack, operator = drawer
    operator.until(lambda: operator.missions and operator.missions[-1].state in ENDED, "an earlier mission")
    operator.reset("drawer-open-v3", 1000)
    known, begun = operator.missions[-1].id, len(operator.status)
    earlier = {status.active_goal for status in operator.status}
    operator.say("open the drawer")
    goal = operator.until_begun("openral/rskill-mini-metaworld", earlier)
    answer = intervene(operator, take=True, who="anna", goal_id=HAND)
    assert answer.success, answer.message
    operator.until(lambda: operator.status[-1].intervention == "paused", "the pause")
    status = operator.status[-1]
    assert (status.commanded_by, status.taken_over_by, status.paused_goal) == ("operator", "anna", goal)
    operator.until(lambda: operator.status[-1].holding, "an arm at rest")

    # The operator's chunks move the arm; nobody else may take it, or give it back.
    for _ in range(10):
        operator.send_chunk(goal=HAND, data=[0.0, 0.0, 0.5, -1.0] * 16)
        seen = len(operator.status)
        operator.until(lambda seen=seen: len(operator.status) > seen, "a status")
    operator.until(
        lambda: any(s.intervention == "correcting" for s in operator.status[begun:]), "the correction"
    )
    executed = operator.status[-1].executed
    refused = intervene(operator, take=False, who="bob", goal_id="c" * 32)
    assert not refused.success
    assert "anna has the arm" in refused.message

    # The policy waits, and nothing of it is executed.
    first_s = operator.status[-1].header.stamp.sec
    operator.until(lambda: operator.status[-1].header.stamp.sec > first_s + seconds, "the end of a pause")
    assert operator.status[-1].executed <= executed + 16
    assert operator.missions[-1].id != known
    assert operator.missions[-1].state == "active"
    assert operator.missions[-1].tasks[0].attempts == 1

    given = intervene(operator, take=False, who="anna", goal_id=HAND)
    assert given.success, given.message
    operator.until(lambda: operator.missions[-1].state in ENDED, "the mission's end")
    mission = operator.missions[-1]
    assert mission.state == "done", mission.message
    assert mission.tasks[0].attempts == 1
    operator.until(lambda: operator.status[-1].holding, "an arm at rest")
    phases = [s.intervention for s in operator.status[begun:]]
    assert (
        phases.index("paused") < phases.index("correcting") < len(phases) - 1 - phases[::-1].index("paused")
    )
    assert phases[-1] == "autonomous"
    goals = {s.active_goal for s in operator.status[begun:] if s.skill == "openral/rskill-mini-metaworld"}
    assert goals - earlier == {goal}, "the same goal goes on"
    check_seams(until_recorded(stack.folder / "run", operator), goal)
    report = run_page(stack.folder / "run")
    for words in (
        "The simulator agrees",
        "An operator had the arm from",
        "data:image/png;base64,",
        "mini-metaworld",
    ):
        assert words in report, words


def check_seams(truth: Any, goal: str) -> None:
    """See that the commanded motion changes at neither seam by more than its share of a fade over `SEAM_S`."""
    who = truth["goals"][truth["goal"]]
    change = np.abs(np.diff(truth["action"][:, :3], axis=0)).max(axis=1)
    by_hand = np.flatnonzero(who == HAND)
    policy = np.flatnonzero(who == goal)
    steps = round(SEAM_S * float(truth["control_hz"]))
    share = 2.0 / (steps + 1) + 1e-6  # from one end of the range of an action to the other
    taken = int(policy[policy < by_hand[0]][-1])
    given = int(policy[policy > by_hand[-1]][0])
    assert not truth["held"][taken + 1], "the motion fades out"
    assert change[taken : taken + steps + 2].max() <= share
    # Behind the second seam the policy's own changes come in, too, as in its motions before.
    before = np.flatnonzero((who != HAND) & (who != ""))
    own = change[before[before < taken][:-1]].max()
    assert change[given - 1 : given + steps].max() <= share + own
