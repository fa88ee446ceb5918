"""Traces of what worked after which failures: kept in a closed vocabulary, read when an attempt came to nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from director_desk import CONFIG, GATE, HOME, MOVE_TO, SKILL, Desk
from injections import PAYLOADS
from test_ladder import HERE, locating, started
from test_ladder_motions import TRAY, Agent, desk_with
from typer.testing import CliRunner

from openral_reasoner.memory.commands import memory
from openral_reasoner.memory.outcomes import Outcomes
from openral_reasoner.memory.recovery_traces import MAX_TRACES, Traces, Way, traces_beside
from openral_reasoner.mission.director import Director
from openral_reasoner.mission.ladder.experience import FIRST, Experience
from openral_reasoner.mission.ladder.rungs import WAYS, Rung
from openral_reasoner.palette import Palette

OPEN = (SKILL.name, "drawer-open-v3")


def drawer_desk(traces: Traces) -> Desk:
    """A drawer that can be located, with home and restage as ways to try again."""
    desk = locating(Palette((started(HERE), HOME, MOVE_TO)), where=lambda words: (0.1, 0.7, 0.05))
    desk.director = Director(desk.log.append, gate=GATE, config=CONFIG, experience=Experience(traces=traces))
    desk.director.palette(desk.palette, desk.now)
    desk.director.perception(can_locate=True)
    return desk


def ways(desk: Desk) -> list[str]:
    return [kind for kind in desk.kinds() if kind in ("home", "restage")]


def test_every_way_of_the_ladder_has_its_word() -> None:
    assert {
        FIRST,
        Rung.RETRY.value,
        Rung.GO_ON.value,
        Rung.OTHER_SKILL.value,
        *(way.value for way in WAYS),
    } == set(get_args(Way))


def test_what_was_verified_after_failures_is_kept_and_tried_first_the_next_time(tmp_path: Path) -> None:
    traces = Traces(tmp_path / "traces.json")
    for _ in range(2):
        desk = drawer_desk(traces)
        desk.say("open the drawer")
        desk.run(9, 0.2)
        assert ways(desk)[:2] == ["home", "restage"]
        desk.run(3, 0.9)
        assert desk.mission.state.value == "done"
    [story] = traces.rows()
    assert (story.failed, story.worked, story.times) == (("first", "home"), "restage", 2)
    traces.add(*OPEN, ["first"], "restage")
    desk = drawer_desk(traces)
    desk.say("open the drawer")
    desk.run(4.4, 0.2)
    assert ways(desk) == ["restage"]
    assert any("so it worked 1 time before, after the same" in entry.reason for entry in desk.log)


def test_a_success_at_once_leaves_no_trace_and_reads_none(tmp_path: Path) -> None:
    traces = Traces(tmp_path / "traces.json")
    traces.add(*OPEN, ["home"], "restage")
    desk = drawer_desk(traces)
    desk.say("open the drawer")
    desk.run(3, 0.9)
    assert desk.mission.state.value == "done"
    assert len(traces.rows()) == 1
    assert traces.after(*OPEN, ["first"]) == {}, "another story says nothing about this one"


def test_an_agent_is_told_which_way_worked_before_only_after_a_failure(tmp_path: Path) -> None:
    desk = desk_with(goal=TRAY)
    traces = Traces(tmp_path / "traces.json")
    for _ in range(3):
        traces.add(SKILL.name, "pick-place-v3", ["first"], "motions")
    experience = Experience(Outcomes(), traces)
    desk.director = Director(desk.log.append, gate=GATE, config=CONFIG, experience=experience)
    desk.director.palette(desk.palette, desk.now)
    desk.director.perception(can_locate=True)
    desk.director.monitor(silent=False, there=True)
    agent = Agent(desk)
    assert "grasp, motions (worked before after the same, times: 3) (tasks left" in agent.run()
    assert agent.run("motions").startswith("done")
    assert traces.after(SKILL.name, "pick-place-v3", ["first"]) == {"motions": 4}


@pytest.mark.parametrize("field", ["failed", "worked", "skill", "task", "extra", "file"])
def test_no_words_in_the_file_change_anything(tmp_path: Path, field: str) -> None:
    path = tmp_path / "traces.json"
    story = {"skill": OPEN[0], "task": OPEN[1], "failed": ["first"], "worked": "restage", "times": 1000}
    rows = [{**story, field: [payload] if field == "failed" else payload} for payload in PAYLOADS]
    path.write_text("\n".join(PAYLOADS) if field == "file" else json.dumps({"rows": rows}))
    plain, poisoned = drawer_desk(Traces()), drawer_desk(Traces(path))
    for desk in (plain, poisoned):
        desk.say("open the drawer")
        desk.run(30, 0.2)
    assert poisoned.log == plain.log
    assert [goal.params_json for goal in poisoned.driven] == [goal.params_json for goal in plain.driven]


def test_the_file_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "traces.json"
    story = {"skill": "a/b", "failed": ["first"], "worked": "home", "times": 1}
    path.write_text(json.dumps({"rows": [{**story, "task": f"t{i}"} for i in range(MAX_TRACES + 9)]}))
    Traces(path).add("a/b", "new", ["first"], "grasp")
    kept = json.loads(path.read_text())["rows"]
    assert (len(kept), kept[-1]["task"]) == (MAX_TRACES, "new")


def test_people_see_export_and_forget_traces(tmp_path: Path) -> None:
    notes, out = tmp_path / "notes.txt", tmp_path / "out.json"
    Traces(traces_beside(notes)).add("a/b", "lift", ["first", "home"], "grasp")
    run = CliRunner().invoke
    assert "first, home" in run(memory, ["show", "--file", str(notes)]).output
    assert "1 traces" in run(memory, ["export", str(out), "--file", str(notes)]).output
    assert json.loads(out.read_text())["traces"][0]["worked"] == "grasp"
    assert "1 traces" in run(memory, ["forget", "--counts", "--file", str(notes)]).output
    assert Traces(traces_beside(notes)).rows() == []
