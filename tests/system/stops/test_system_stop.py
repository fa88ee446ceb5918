"""While a language model thinks, the operator is heard: stop, cancel, E-stop and another wish."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from system_files import moved_while_held, until_recorded
from system_operator import ENDED
from system_thinking import Thinking

CANCELED = 4


@pytest.fixture
def deployment(deliberating: Thinking) -> Iterator[Thinking]:
    """Where it was said to hold, its record says so, too."""
    yield deliberating
    deliberating.handle.cancel_goal_async()
    deliberating.until_held()
    truth = until_recorded(deliberating.stack.folder / "run", deliberating.operator)
    assert not truth["held"].all()
    assert not moved_while_held(truth)


def test_stop_ends_motion_and_mission_while_the_model_thinks(deployment):
    operator, before = deployment.operator, deployment.stack.errors
    goal = deployment.begin()
    operator.say("stop")
    deployment.until_held()
    ended = deployment.handle.get_result_async()
    operator.until(ended.done, "the goal's end")
    assert (ended.result().result.outcome, ended.result().result.check) == (CANCELED, "client_cancel")
    operator.until(lambda: operator.missions[-1].state == "stopped", "the mission's end")
    assert 'the operator said "stop"' in operator.missions[-1].message
    operator.assert_holding()
    executed = operator.status[-1].executed
    again = deployment.begin()
    assert again != goal
    operator.say("no no, don't move!")
    deployment.until_held()
    assert operator.status[-1].executed > executed
    errors = deployment.stack.errors[len(before) :]
    assert [error for error in errors if "too slow" not in error] == []  # a busy machine


def test_cancel_estop_and_another_wish_do_not_wait_for_the_model(deployment):
    operator = deployment.operator
    deployment.begin()
    mission = operator.missions[-1]
    deployment.handle.cancel_goal_async()
    deployment.until_held()
    assert operator.missions[-1].id == mission.id, "a client's cancel is no word to the reasoner"
    assert operator.missions[-1].state not in ENDED

    asked = deployment.endpoint.requests
    operator.say("close the drawer")
    operator.until(lambda: operator.missions[-1].text == "close the drawer", "the other wish")
    operator.until(lambda: deployment.endpoint.requests > asked, "the model to be asked about it")
    replaced = [seen for seen in operator.missions if seen.id == mission.id][-1]
    assert (replaced.state, replaced.message) == ("stopped", 'replaced by "close the drawer"')

    deployment.begin()
    operator.press("/openral/estop")
    deployment.until_held()
    operator.until(lambda: operator.missions[-1].state == "stopped", "the mission's end")
    assert "E-stop" in operator.missions[-1].message
    operator.say("open the drawer")
    operator.until(lambda: operator.missions[-1].state == "failed", "a refusal")
    assert "service estop_reset" in operator.missions[-1].message
    operator.press("/openral/estop_reset")
    deployment.begin()
