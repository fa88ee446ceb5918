"""What the bridge takes from the graph: each field of each message, right and wrong."""

from __future__ import annotations

import numpy as np
import pytest
from openral.msg import ActionChunk, SkillInfo
from openral.srv import ResetScene

from openral_control.message_checks import (
    MAX_BYTES,
    read_announcement,
    read_chunk,
    unreadable_chunk,
)
from openral_core.errors import ContractError
from openral_sim_bridge.simulation import MAX_SEED, read_reset

LONG = "x" * 5_000_000
BAD_TEXTS = [LONG, "a\x00b", "a\nb", "\x1b[2J"]
BAD_IDS = [LONG, "0" * 31, "0" * 33, "A" * 32, "g" * 32, "0" * 31 + "\x00", "é" * 32]


def good_chunk(**changes):
    fields = {
        "goal_id": "0" * 32,
        "skill": "t/s",
        "instruction": "go",
        "representation": "r",
        "horizon": 2,
        "dim": 4,
        "dt": 0.0125,
        "data": [0.5] * 8,
    }
    return ActionChunk(**{**fields, **changes})


def good_info(**changes):
    return SkillInfo(
        **{"node": "/openral/policy/s", "name": "t/s", "active": True, "horizon_s": 0.2, **changes}
    )


def test_a_good_chunk_is_read_as_it_is():
    message = good_chunk(sequence=7, latency_s=0.02)
    message.header.stamp.sec, message.header.stamp.nanosec = 3, 500_000_000
    chunk = read_chunk(message)
    assert (chunk.stamp_s, chunk.goal_id, chunk.skill, chunk.sequence) == (3.5, "0" * 32, "t/s", 7)
    np.testing.assert_array_equal(chunk.data, np.full(8, 0.5, np.float32))
    assert read_chunk(good_chunk(horizon=0, dim=0, data=[])).ends_goal


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("goal_id", value) for value in [*BAD_IDS, ""]],
        *[(field, value) for field in ("skill", "instruction", "representation") for value in BAD_TEXTS],
        ("skill", "x" * 129),
        ("representation", "x" * 65),
        ("instruction", "x" * 1001),
        *[(field, value) for field in ("dt", "latency_s") for value in (np.nan, np.inf, -np.inf)],
        ("horizon", 3),
        ("horizon", 2**32 - 1),
        ("dim", 0),
        ("data", [0.0] * 9),
        ("data", []),
    ],
)
def test_a_chunk_with_a_bad_field_is_dropped_with_a_short_reason(field, value):
    message = good_chunk(**{field: value})
    with pytest.raises(ContractError) as refused:
        read_chunk(message)
    assert len(str(refused.value)) < 200
    unreadable = unreadable_chunk(message, "why")
    if field in ("goal_id", "skill"):
        assert unreadable is None, "nobody knows whose chunk it is"
    else:
        assert (unreadable.goal_id, unreadable.skill, unreadable.fault) == ("0" * 32, "t/s", "why")
        assert not unreadable.ends_goal
        assert unreadable.data.size == 0
    assert str(refused.value).isprintable()


def test_numbers_that_are_not_finite_are_for_the_envelope_to_judge():
    assert np.isnan(read_chunk(good_chunk(data=[np.nan] * 8)).data).all()


def test_a_chunk_has_a_size_cap():
    values = MAX_BYTES // 4
    assert read_chunk(good_chunk(horizon=values // 4, data=[0.0] * values)).horizon == values // 4
    with pytest.raises(ContractError, match="send at most"):
        read_chunk(good_chunk(horizon=values // 4 + 1, data=[0.0] * (values + 4)))


@pytest.mark.parametrize(("sec", "nanosec"), [(-1, 0), (0, 1_000_000_000)])
def test_a_chunk_needs_a_stamp_that_is_a_time(sec, nanosec):
    message = good_chunk()
    message.header.stamp.sec, message.header.stamp.nanosec = sec, nanosec
    with pytest.raises(ContractError, match="stamp"):
        read_chunk(message)


def test_a_good_announcement_is_read_as_it_is():
    said = read_announcement(good_info(goal_id="0" * 32))
    assert (said.node, said.skill, said.active, said.goal_id, said.horizon_s) == (
        "/openral/policy/s",
        "t/s",
        True,
        "0" * 32,
        0.2,
    )
    assert read_announcement(good_info()).goal_id == ""


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("goal_id", value) for value in BAD_IDS],
        *[(field, value) for field in ("node", "name") for value in BAD_TEXTS],
        *[("horizon_s", value) for value in (np.nan, np.inf, -1.0)],
    ],
)
def test_an_announcement_with_a_bad_field_is_dropped_with_a_short_reason(field, value):
    with pytest.raises(ContractError) as refused:
        read_announcement(good_info(**{field: value}))
    assert len(str(refused.value)) < 200


def test_resets_name_a_task_and_a_state_that_can_be():
    assert read_reset(ResetScene.Request(task="t", seed=3)) == ("t", 3)
    assert read_reset(ResetScene.Request(seed=-(2**63))) == ("", -1)
    for fields in ({"seed": MAX_SEED + 1}, {"seed": 2**63 - 1}, {"task": LONG}, {"task": "t\x00"}):
        with pytest.raises(ContractError) as refused:
            read_reset(ResetScene.Request(**fields))
        assert len(str(refused.value)) < 200
