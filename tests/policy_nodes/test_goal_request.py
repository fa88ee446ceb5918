from __future__ import annotations

import json

import pytest

from openral_policy_nodes.goal_request import GoalRefused, parse_goal


def parse(package, instruction="", task="", deadline_s=0.0, params=""):
    return parse_goal(package.manifest, instruction, task, deadline_s, params, default_deadline_s=45.0)


def test_words_come_from_the_client_or_from_the_task(make_skill):
    package = make_skill()
    assert parse(package, "  pull it ").instruction == "pull it"
    assert parse(package, task="drawer-open-v3").instruction == "open the drawer"
    assert parse(package, "pull it", "drawer-open-v3").instruction == "pull it"


@pytest.mark.parametrize(("asked", "granted"), [(3.0, 3.0), (0.0, 20.0), (86_400.0, 86_400.0)])
def test_deadline_falls_back_to_the_skills_own(make_skill, asked, granted):
    assert parse(make_skill(), "x", deadline_s=asked).deadline_s == granted


def test_deadline_of_a_skill_that_suggests_none(make_skill):
    package = make_skill({"latency_budget": {"per_chunk_ms": 50.0}})
    assert parse(package, "x").deadline_s == 45.0


@pytest.mark.parametrize(
    ("fields", "check", "text"),
    [
        ({}, "instruction", "say in words"),
        ({"task": "fly-v3"}, "task", "drawer-open-v3"),
        ({"instruction": "x", "params": "{"}, "params", "not JSON"),
        ({"instruction": "x", "params": "[1]"}, "params", "not a JSON object"),
        ({"instruction": "x", "params": '{"speed": 1}'}, "params", "takes no parameters, 'speed' is given"),
        ({"instruction": "x", "params": "[" * 5000}, "params", "not JSON"),
        ({"instruction": "x", "params": "[" * 16_385}, "params", "16385 characters; send at most 16384"),
        ({"instruction": "x" * 1001}, "instruction", "1001 characters; send at most 1000"),
        ({"instruction": "open\x00the drawer"}, "instruction", "control character .* at place 4"),
        ({"instruction": "x", "task": "t" * 129}, "task", "129 characters"),
        *[
            ({"instruction": "x", "deadline_s": value}, "deadline", "send seconds from 0")
            for value in (float("nan"), float("inf"), float("-inf"), -1.0, 86_401.0, 1e300)
        ],
    ],
)
def test_goals_that_cannot_run_are_refused_by_name(make_skill, fields, check, text):
    with pytest.raises(GoalRefused, match=text) as refused:
        parse(make_skill(), **fields)
    assert refused.value.check == check


def test_parameters_follow_the_skills_schema(make_skill):
    schema = {"type": "object", "properties": {"speed": {"type": "number"}}, "required": ["speed"]}
    package = make_skill({"goal_params_schema": schema})
    assert parse(package, "x", params='{"speed": 0.5}').params == {"speed": 0.5}
    with pytest.raises(GoalRefused, match="speed is missing"):
        parse(package, "x")


def test_a_refusal_does_not_repeat_what_it_refuses_at_any_length(make_skill):
    params = json.dumps({f"{index:08}\x1b[2J": 1 for index in range(600)})
    with pytest.raises(GoalRefused) as refused:
        parse(make_skill(), "x", params=params)
    assert len(str(refused.value)) < 400
    assert str(refused.value).isprintable()
