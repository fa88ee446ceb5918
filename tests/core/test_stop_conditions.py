"""Each condition over made-up motions, and the JSON that it is asked for by."""

from __future__ import annotations

import json
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openral_core.errors import ContractError
from openral_core.progress_judgement import ProgressReading, ProgressThresholds
from openral_core.stop_conditions import (
    ConditionWatch,
    FingerTravel,
    Lifted,
    Reached,
    Still,
    commands_closing,
    parse_stop_when,
    stop_when_schema,
    stop_when_text,
)
from openral_core.stop_conditions.fingers import REST_M, REST_S
from openral_core.stop_conditions.models import MAX_CONDITIONS, MAX_TEXT, MODELS
from openral_core.types import RobotState

FINGERS = FingerTravel(closed_m=0.03, open_m=0.1)
DT_S = 0.05
CUBE_M = 0.045
PLACE = (0.0, 0.6, 0.2)


def state(stamp_s: float, position: Iterable[float] = PLACE, opening_m: float = 0.1) -> RobotState:
    return RobotState(
        stamp_s, (), np.zeros(0), np.array([*position], float), np.array([0.0, 0.0, 0.0, 1.0]), opening_m
    )


def fires_at(text: str, rows: Iterable[tuple[float, float, bool | None]]) -> int | None:
    """Return the number of the row (height [m], opening [m], told to close) at which a condition holds."""
    watch = ConditionWatch(parse_stop_when(text), FINGERS)
    for index, (height, opening, closing) in enumerate(rows):
        if watch.look(state(10.0 + DT_S * index, (0.0, 0.6, height), opening), closing):
            return index
    return None


def lift(
    opening_m: float, *, closing: bool | None = True, rise_m: float = 0.1
) -> list[tuple[float, float, bool | None]]:
    """Go down open, close for half a second until the fingers meet what lies there, go up."""
    down = [(0.2 - 0.015 * i, 0.1, False if closing else closing) for i in range(10)]
    close = [(0.05, max(opening_m, 0.1 - 0.01 * i), closing) for i in range(10)]
    up = [(0.05 + rise_m * i / 20, opening_m, closing) for i in range(21)]
    return [*down, *close, *up]


def test_lifted_holds_once_the_hand_has_risen_with_something_between_its_fingers():
    rows = lift(CUBE_M)
    index = fires_at('[{"name": "lifted", "height_m": 0.05}]', rows)
    assert index is not None
    assert rows[index][0] == pytest.approx(0.1, abs=0.006)


@pytest.mark.parametrize(
    "rows",
    [
        lift(0.03),  # closed on nothing
        lift(0.033),  # nothing that could be told from it
        lift(0.1),  # told to close, and nothing closed
        lift(CUBE_M, closing=False),  # half open, as somebody left it
        lift(CUBE_M, rise_m=0.04),  # not high enough
        # Down, closed on nothing while rising: half closed on the way, but never at rest.
        [(0.05 + 0.02 * i, max(0.03, 0.1 - 0.002 * i), True) for i in range(60)],
    ],
)
def test_lifted_does_not_hold_without_something_in_the_hand(rows):
    assert fires_at('[{"name": "lifted", "height_m": 0.05}]', rows) is None


def test_a_hand_that_came_from_below_and_only_then_closed_has_lifted_nothing():
    up = [(0.05 + 0.01 * i, 0.1, False) for i in range(20)]
    closed = [(0.24, CUBE_M, True)] * 20
    assert fires_at('[{"name": "lifted", "height_m": 0.05}]', [*up, *closed]) is None


def test_another_gripper_has_another_closed_end():
    assert fires_at('[{"name": "lifted", "closed_m": 0.0}]', lift(0.02)) is not None
    assert fires_at('[{"name": "lifted"}]', lift(0.02)) is None


RUNS = st.tuples(
    st.sampled_from([-0.03, 0.0, 0.02, 0.04]),
    st.sampled_from([0.03, CUBE_M, CUBE_M + 0.003, 0.1]),
    st.sampled_from([True, True, True, False, None]),
    st.integers(1, 6),
)
"""(rise [m] a row, opening [m], told to close, rows)"""


@given(st.lists(RUNS, max_size=12))
def test_lifted_never_holds_unless_told_to_close_at_rest_and_risen(runs):
    rows: list[tuple[float, float, bool | None]] = []
    for rise, opening, closing, count in runs:
        for _ in range(count):
            rows.append(((rows[-1][0] if rows else 0.2) + rise, opening, closing))
    index = fires_at('[{"name": "lifted", "height_m": 0.05}]', rows)
    if index is None:
        return
    since = next((i for i in range(index, -1, -1) if not rows[i][2]), -1) + 1
    heights = [row[0] for row in rows[since : index + 1]]
    resting = [row[1] for row in rows[index - round(REST_S / DT_S) : index + 1]]
    assert heights[-1] - min(heights) >= 0.05 - 1e-9
    assert max(resting) - min(resting) <= REST_M
    assert 0.034 < rows[index][1] < 0.096
    assert index - since >= round(REST_S / DT_S)


def test_gripper_closed_holds_at_rest_on_something_and_on_nothing():
    for opening in (CUBE_M, 0.03):
        rows = lift(opening)
        index = fires_at('[{"name": "gripper_closed"}]', rows)
        assert index is not None
        assert rows[index - round(0.2 / DT_S)][1] == pytest.approx(opening, abs=0.001)
    assert fires_at('[{"name": "gripper_closed"}]', lift(CUBE_M, closing=False)) is None


def test_gripper_closed_below_an_opening_needs_its_whole_duration():
    text = '[{"name": "gripper_closed", "opening_m": 0.05, "duration_s": 0.3}]'
    closed, open_ = (0.2, 0.04, None), (0.2, 0.06, None)
    assert fires_at(text, [open_, *[closed] * 7]) == 7
    assert fires_at(text, [closed, closed, closed, open_] * 8) is None


@given(st.tuples(*[st.floats(-0.1, 0.1)] * 3), st.floats(0.001, 0.1))
def test_reached_holds_if_and_only_if_the_hand_is_within_tolerance(offset, tolerance_m):
    watch = ConditionWatch([Reached(name="reached", position=PLACE, tolerance_m=tolerance_m)], FINGERS)
    there = state(3.0, np.add(PLACE, offset))
    away = float(np.linalg.norm(there.ee_position - np.array(PLACE)))
    assert (watch.look(there, None) is not None) == (away <= tolerance_m)


@given(
    st.floats(0.0, 3.0),
    st.floats(0.05, 1.0),
    st.lists(st.floats(0.0, 0.02), min_size=1, max_size=100),
)
def test_still_holds_exactly_when_nothing_moved_for_its_duration_and_never_before_its_time(
    after_s, duration_s, steps_m
):
    watch = ConditionWatch(
        [Still(name="still", distance_m=0.005, duration_s=duration_s, after_s=after_s)], FINGERS
    )
    heights = np.cumsum(steps_m)
    stamps = 7.0 + DT_S * np.arange(len(steps_m))
    for index, (stamp, height) in enumerate(zip(stamps, heights, strict=True)):
        fired = watch.look(state(float(stamp), (0.0, 0.0, float(height))), None)
        past = stamps[: index + 1] <= stamp - duration_s + 1e-6
        begin = int(np.flatnonzero(past)[-1]) if past.any() else None
        late_enough = stamp - stamps[0] >= after_s
        expected = (
            late_enough and begin is not None and float(height - heights[begin : index + 1].min()) < 0.005
        )
        assert (fired is not None) == expected


def test_done_is_what_the_judgement_of_progress_says_of_its_readings():
    watch = ConditionWatch(parse_stop_when('[{"name": "done", "readings": 2}]'), FINGERS)
    assert watch.look(state(1.0), None) is None
    for stamp_s, success in ((1.0, 0.99), (1.0, 0.99), (1.3, 0.2), (1.6, 0.99)):
        watch.reading(ProgressReading(stamp_s, 0.9, success, calibrated=True))
        assert watch.look(state(stamp_s), None) is None
    watch.reading(ProgressReading(1.9, 0.9, 0.99, calibrated=True))
    fired = watch.look(state(2.0), None)
    assert fired is not None
    assert fired.name == "done"
    own = ConditionWatch(parse_stop_when('[{"name": "done"}]'), FINGERS, ProgressThresholds(dwell=1))
    own.reading(ProgressReading(1.0, 0.9, 0.99, calibrated=True))
    assert own.look(state(1.0), None) is not None


def test_the_first_of_several_conditions_is_told():
    text = (
        '[{"name": "still", "after_s": 0, "duration_s": 0.1}, {"name": "reached", "position": [0, 0.6, 0.2]}]'
    )
    watch = ConditionWatch(parse_stop_when(text), FINGERS)
    names = [fired.name for i in range(3) if (fired := watch.look(state(DT_S * i), None))]
    assert names == ["reached", "reached", "still"]


def test_commands_close_from_half_on_and_only_where_actions_have_a_gripper():
    row = np.array([0.0, 0.0, 0.0, 1.0])
    assert commands_closing(row, "delta_ee_3d_plus_gripper") is True
    assert commands_closing(-row, "delta_joints_plus_gripper") is False
    assert commands_closing(0.4 * row, "delta_ee_3d_plus_gripper") is False
    assert commands_closing(row, "joint_positions") is None


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('[{"name": "hover"}]', "hover"),
        ("[{}]", "no name"),
        ('[["lifted"]]', "no name"),
        ('[{"name": "lifted"}, {"name": "lifted", "height_m": -1}]', "stop_when[1] lifted: height_m"),
        ('[{"name": "lifted", "height_m": NaN}]', "lifted: height_m"),
        ('[{"name": "lifted", "height_m": 1e999}]', "lifted: height_m"),
        ('[{"name": "lifted", "height_m": "0.05"}]', "lifted: height_m"),
        ('[{"name": "lifted", "hight_m": 0.05}]', "lifted: hight_m"),
        ('[{"name": "reached"}]', "reached: position"),
        ('[{"name": "reached", "position": [0, 1, NaN]}]', "reached: position"),
        ('[{"name": "reached", "position": [0, 1]}]', "reached: position"),
        ('[{"name": "still", "after_s": -1}]', "still: after_s"),
        ('[{"name": "still", "duration_s": true}]', "still: duration_s"),
        ('[{"name": "done", "readings": 0}]', "done: readings"),
        ('[{"name": "gripper_closed", "opening_m": 2}]', "gripper_closed: opening_m"),
    ],
)
def test_a_wrong_condition_is_one_line_that_names_it_and_lists_those_that_are(text, named):
    with pytest.raises(ContractError) as caught:
        parse_stop_when(text)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)
    assert all(name in str(caught.value) for name in MODELS)


@pytest.mark.parametrize(
    "text",
    [
        "lifted",
        "{}",
        '"lifted"',
        json.dumps([{"name": "still"}] * (MAX_CONDITIONS + 1)),
        " " * MAX_TEXT + "[]",
        "[" * 4000,
    ],
)
def test_what_is_no_list_of_conditions_or_too_long_is_refused(text):
    with pytest.raises(ContractError) as caught:
        parse_stop_when(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_conditions_survive_their_own_text_and_none_is_empty():
    conditions = parse_stop_when('[{"name": "lifted"}, {"name": "reached", "position": [0, 1, 2]}]')
    assert conditions[0] == Lifted(name="lifted")
    assert parse_stop_when(stop_when_text(conditions)) == conditions
    assert parse_stop_when("") == parse_stop_when(" ") == parse_stop_when("[]") == ()
    assert stop_when_text(()) == ""


def test_the_schema_for_tools_names_every_condition_with_its_numbers():
    schema = stop_when_schema()
    assert schema["maxItems"] == MAX_CONDITIONS
    assert set(schema["items"]["discriminator"]["mapping"]) == set(MODELS)
    for name, model in MODELS.items():
        found = schema["$defs"][model.__name__]
        assert found["properties"]["name"]["const"] == name
        assert found["description"]
        assert all(found["properties"][key].get("description") for key in model.model_fields if key != "name")
