"""What a policy node takes from the bridge's status."""

from __future__ import annotations

import pytest
from openral.msg import ControlStatus

from openral_core.errors import ContractError
from openral_policy_nodes.control_status_check import MAX_REASON, read_status


def test_a_long_reason_costs_nothing_else_of_the_status() -> None:
    """As where the reason advises a command that names a scene by a long path."""
    why = f"slow start: lead the arm there by `openral robot home /{'deep/' * 100}scene.yaml`\nor by hand"
    status = read_status(ControlStatus(stopped_by=why, last_rejection=why, intervention="paused", executed=7))
    assert (status.taken_over, status.executed) == (True, 7)
    for said in (status.stopped_by, status.last_rejection):
        assert said == why[:MAX_REASON]
    assert read_status(ControlStatus(stopped_by="user stopped:\nlet go")).stopped_by == "user stopped: let go"


@pytest.mark.parametrize("fields", [{"active_goal": "x"}, {"mode": "m" * 33}, {"intervention": "a\x00"}])
def test_what_a_goal_acts_by_is_still_checked(fields: dict[str, str]) -> None:
    with pytest.raises(ContractError):
        read_status(ControlStatus(**fields))
