"""The reasoner as a process among scripted neighbours in theirs; what happened is read from its run folder."""

from __future__ import annotations

import contextlib
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from reasoner_graph import PATIENCE_S, Graph, end_of

from openral_core.guarded_callbacks import EXIT_UNFIT
from openral_reasoner.llm.fakes import Endpoint, Script

ORDER = "open the drawer, then close it"


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    graph = Graph(tmp_path)
    yield graph
    graph.close()


def test_two_tasks_are_done_and_the_process_ends(graph: Graph) -> None:
    graph.skill()
    graph.monitor()
    code, output = end_of(graph.reasoner("open the drawer, then close it"))
    mission = graph.mission()
    assert (code, mission["state"]) == (0, "done"), output
    assert [task["skill_task"] for task in mission["tasks"]] == ["open-the-drawer", "close-the-drawer"]
    assert [task["attempts"] for task in mission["tasks"]] == [1, 1]


def test_a_stalled_attempt_is_made_again_from_home(graph: Graph) -> None:
    graph.skill()
    graph.home()
    graph.monitor(levels=[0.3, 1.0])
    code, output = end_of(graph.reasoner("open the drawer"))
    mission = graph.mission()
    assert (code, mission["state"]) == (0, "done"), output
    assert mission["tasks"][0]["attempts"] == 2
    assert "stalled: progress stands at 0.30" in " ".join(step["reason"] for step in graph.steps())
    kinds = [step["kind"] for step in graph.steps()]
    assert kinds.index("home") < kinds.index("prepare") < kinds.index("done")


def test_no_task_begins_before_the_monitor_watches_where_one_is_awaited(graph: Graph) -> None:
    graph.skill()
    impatient = {"director.palette_patience_s": 3.0}
    code, output = end_of(graph.reasoner("open the drawer", await_monitor=True, **impatient))
    assert (code, graph.mission()["state"]) == (0, "failed"), output
    assert "the reward monitor does not watch yet" in graph.mission()["message"]
    assert not any(step["kind"] == "attempt" for step in graph.steps())
    graph.monitor()
    code, output = end_of(graph.reasoner("open the drawer", await_monitor=True))
    assert (code, graph.mission()["state"]) == (0, "done"), output


def test_unknown_task_is_refused_with_what_can_be_done(graph: Graph) -> None:
    graph.skill()
    code, output = end_of(graph.reasoner("make me a coffee"))
    mission = graph.mission()
    assert (code, mission["state"], mission["tasks"]) == (0, "failed", []), output
    assert "What I can do: open the drawer; close the drawer." in mission["message"]


def test_killed_policy_node_fails_the_task(graph: Graph) -> None:
    policy = graph.skill()
    graph.monitor(levels=[0.7])
    reasoner = graph.reasoner("open the drawer", **{"gate.default_patience_s": 60.0})
    graph.wait_for("reading")
    policy.kill()
    end_of(reasoner)
    assert graph.mission()["state"] == "failed"
    assert "/openral/policy/fake did not come back" in graph.mission()["message"]
    # A middleware may list a node that was killed for some time: then it is its silence that is noticed.
    ends = ("/openral/policy/fake went away", "/openral/policy/fake has been silent for")
    assert any(end in step["reason"] for step in graph.steps() for end in ends)


def test_restarted_policy_node_gets_the_task_again(graph: Graph) -> None:
    policy = graph.skill()
    graph.monitor(levels=[0.3, 1.0])
    slow = {"gate.default_patience_s": 60.0, "director.comeback_patience_s": 60.0}
    reasoner = graph.reasoner("open the drawer", **slow)
    graph.wait_for("reading")
    policy.kill()
    graph.wait_for("retry")
    graph.skill()
    _, output = end_of(reasoner)
    assert graph.mission()["state"] == "done", output
    assert graph.mission()["tasks"][0]["attempts"] == 2


@pytest.mark.slow
def test_a_policy_node_whose_place_another_process_took_gets_the_task_again(graph: Graph) -> None:
    """The first process hangs and stays in the graph, so that the node's name is always there and never silent."""
    policy = graph.skill()
    graph.monitor(levels=[0.3, 1.0])
    slow = {"gate.default_patience_s": 60.0, "gate.stale_after_s": 60.0, "director.bridge_patience_s": 60.0}
    reasoner = graph.reasoner("open the drawer", **slow, **{"director.heartbeat_patience_s": 60.0})
    graph.wait_for("reading")
    policy.send_signal(signal.SIGSTOP)
    graph.skill()
    _, output = end_of(reasoner)
    assert graph.mission()["state"] == "done", output
    assert graph.mission()["tasks"][0]["attempts"] == 2
    told = "/openral/policy/fake was started again and does not run the goal"
    assert any(told in step["reason"] for step in graph.steps())


def test_killed_monitor_is_never_a_success(graph: Graph) -> None:
    graph.skill(max_execution_s=4.0)
    monitor = graph.monitor(levels=[0.9], rise_s=60.0)
    reasoner = graph.reasoner("open the drawer", **{"gate.default_patience_s": 60.0})
    graph.wait_for("reading")
    monitor.kill()
    _, output = end_of(reasoner)
    mission = graph.mission()
    assert mission["state"] == "failed", output
    assert "could not be verified" in mission["message"]
    assert mission["tasks"][0]["attempts"] == 1


@pytest.mark.slow
def test_prompt_command_follows_and_stops(tmp_path: Path) -> None:
    with contextlib.closing(Graph(tmp_path, cold=True)) as graph:
        follow_and_stop(graph)


def follow_and_stop(graph: Graph) -> None:
    graph.skill()
    graph.monitor(levels=[1.0, 0.7])
    graph.reasoner(**{"gate.default_patience_s": 60.0})
    code, output = end_of(graph.prompt("open the drawer", "--patience", "30"))
    assert code == 0, output
    assert "mission done" in output
    running = graph.prompt("close the drawer", "--patience", "30")
    end = time.monotonic() + PATIENCE_S
    while not any(
        task["text"] == "close the drawer" and task["progress"] > 0 for task in graph.mission()["tasks"]
    ):
        assert time.monotonic() < end, graph.mission()
        time.sleep(0.05)
    code, output = end_of(graph.prompt("stop", "--patience", "30"))
    assert code == 0, output
    code, output = end_of(running)
    assert code == 1, output
    assert graph.mission()["state"] == "stopped"


def test_words_beside_a_mission_are_refused_or_take_its_place(graph: Graph) -> None:
    graph.skill(max_execution_s=600.0)
    graph.monitor(levels=[0.7])
    graph.reasoner("open the drawer", exit_when_done=False, **{"gate.default_patience_s": 600.0})
    graph.wait_for("reading")
    for words, why in {"what are you doing?": "I cannot do this", "": "there are no words in it"}.items():
        code, output = end_of(graph.prompt(words, "--patience", "30"))
        assert code == 1, output
        assert f'"{words}": ' in output
        assert why in output
        assert '"open the drawer" is in work and goes on.' in output
        assert graph.mission()["state"] == "active"
    replacing = graph.prompt("close the drawer", "--patience", "30")
    end = time.monotonic() + PATIENCE_S
    while graph.mission()["text"] != "close the drawer":
        assert time.monotonic() < end, graph.steps()
        time.sleep(0.05)
    code, output = end_of(graph.prompt("stop", "--patience", "30"))
    assert (code, "the mission and every motion end" in output) == (0, True), output
    assert end_of(replacing)[0] == 1
    ends = [step["reason"] for step in graph.steps() if step["kind"] == "mission"]
    assert ends == ['replaced by "close the drawer"', 'stopped: the operator said "stop"']


@pytest.mark.slow
def test_a_stop_at_a_question_is_told_and_exits_0(graph: Graph) -> None:
    graph.skill()
    graph.monitor(levels=[0.2])
    graph.reasoner(**{"director.ask_patience_s": 10 * PATIENCE_S, "director.max_attempts": 1})
    asked = graph.prompt("open the drawer", "--patience", "30")
    graph.wait_for("question")
    code, output = end_of(graph.prompt("stop", "--patience", "30"))
    assert (code, "the mission and every motion end" in output) == (0, True), output
    code, output = end_of(asked)
    assert code == 1
    reasons = [step["reason"] for step in graph.steps() if step["kind"] in ("plan", "attempt", "question")]
    told = [output.find(reason) for reason in reasons]
    assert told == sorted(told), output
    assert -1 not in told, output
    assert reasons[-1].endswith(" s for an answer)")
    assert "It is answered by `openral prompt retry`, or by skip, no." in output


@pytest.mark.slow
def test_a_reader_that_goes_leaves_the_exit_code_the_mission_s(graph: Graph) -> None:
    graph.skill()
    graph.monitor(levels=[1.0])
    graph.reasoner()
    following = graph.prompt("open the drawer", "--patience", "30")
    assert following.stdout is not None
    following.stdout.readline()
    following.stdout.close()
    assert following.wait(PATIENCE_S) == 0
    assert graph.mission()["state"] == "done"


def test_prompt_without_a_reasoner_exits_2(graph: Graph) -> None:
    code, output = end_of(graph.prompt("open the drawer", "--patience", "1"))
    assert code == 2, output
    assert "No reasoner listens" in output


def test_interrupted_process_leaves_a_stopped_mission(graph: Graph) -> None:
    graph.skill()
    graph.monitor(levels=[0.7])
    reasoner = graph.reasoner("open the drawer", **{"gate.default_patience_s": 60.0})
    graph.wait_for("reading")
    reasoner.send_signal(signal.SIGINT)
    code, output = end_of(reasoner)
    assert code == 0, output
    assert graph.mission()["state"] == "stopped"
    assert "Traceback" not in output


def killed_in_the_middle(graph: Graph, level: float) -> None:
    """Kill a reasoner without a warning while its first task runs, with a monitor that reads `level`."""
    graph.skill(max_execution_s=120.0)
    graph.monitor(levels=[level, 1.0])
    reasoner = graph.reasoner(ORDER, **{"gate.default_patience_s": 60.0})
    graph.wait_for("reading")
    reasoner.kill()
    reasoner.wait()
    assert graph.mission()["state"] == "active"


def test_killed_and_started_again_it_looks_before_anything_moves(graph: Graph) -> None:
    killed_in_the_middle(graph, 0.3)
    code, output = end_of(graph.reasoner(ORDER, resume="always"))
    mission = graph.mission()
    assert (code, mission["state"]) == (0, "done"), output
    assert [task["attempts"] for task in mission["tasks"]] == [2, 1]
    said = [step["reason"] for step in graph.steps() if step["kind"] == "resume"]
    assert said[0].startswith('the reasoner was restarted in "open the drawer", attempt 1')
    assert said[-1] == 'is "open the drawer" done?'
    kinds = [step["kind"] for step in graph.steps()]
    assert kinds.index("retry") < len(kinds) - kinds[::-1].index("attempt"), (
        "it was not done, and tried again"
    )


@pytest.mark.slow
def test_killed_with_the_task_done_it_goes_on_with_the_next_one(graph: Graph) -> None:
    graph.skill(max_execution_s=120.0)
    graph.monitor(levels=[1.0])
    reasoner = graph.reasoner(ORDER, **{"gate.dwell": 100_000})
    graph.wait_for("reading", "progress 1.00")
    reasoner.kill()
    reasoner.wait()
    code, output = end_of(graph.reasoner(ORDER, resume="always"))
    assert (code, graph.mission()["state"]) == (0, "done"), output
    assert [task["attempts"] for task in graph.mission()["tasks"]] == [1, 1]
    assert "it was done when the reasoner came back" in graph.mission()["tasks"][0]["outcome"]


def test_after_a_crash_the_operator_is_asked_and_old_motion_is_stopped(graph: Graph) -> None:
    killed_in_the_middle(graph, 0.3)
    graph.reasoner(ORDER, **{"director.resume_patience_s": 10 * PATIENCE_S})
    graph.wait_for("question")
    mission = json.loads(end_of(graph.start("commands", "mission", "show", "--json", "--patience", "60"))[1])
    assert mission["question"].endswith("Go on, yes or no?")
    code, output = end_of(graph.start("commands", "prompt", "no", "--patience", "60"))
    assert (code, graph.mission()["state"]) == (1, "stopped"), output
    assert sum(step["kind"] == "attempt" for step in graph.steps()) == 1


def test_missing_scene_is_one_clear_error(graph: Graph) -> None:
    code, output = end_of(graph.reasoner(scene="no_such_scene"))
    assert code == EXIT_UNFIT
    assert "no_such_scene" in output
    assert "Traceback" not in output


def test_no_skill_for_this_robot_says_so(graph: Graph) -> None:
    graph.skill(tag="franka_panda")
    patience = {"director.palette_patience_s": 4.0}
    code, output = end_of(graph.reasoner("open the drawer", scene="metaworld_drawer", **patience))
    assert code == 0, output
    assert "it is for franka_panda, this robot is sawyer" in graph.mission()["message"]


def test_simulation_time_that_never_begins_says_so(graph: Graph) -> None:
    graph.skill()
    patience = {"director.palette_patience_s": 2.0, "use_sim_time": True}
    end_of(graph.reasoner("open the drawer", **patience))
    assert "simulation time has not begun" in graph.mission()["message"]


@pytest.mark.slow
def test_a_language_model_plans_and_the_gate_decides(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = "execute_skill__openral__rskill-fake"
    calls = [
        ("query_task_progress", {"task": "open the drawer"}),
        (tool, {"task": "open-the-drawer", "why": "it was ordered"}),
        ("finish_mission", {"done": True, "words": "the drawer is open"}),
    ]
    brain = Script(calls)
    graph.skill()
    graph.monitor()
    with Endpoint(brain) as endpoint:
        monkeypatch.setenv("OPENRAL_REASONER_MODEL", "openai:fake")
        monkeypatch.setenv("OPENRAL_REASONER_BASE_URL", endpoint.url)
        code, output = end_of(graph.reasoner("open the drawer"))
    mission = graph.mission()
    assert (code, mission["state"], mission["message"]) == (0, "done", "the drawer is open"), output
    assert [task["skill_task"] for task in mission["tasks"]] == ["open-the-drawer"]
    said = [message["content"] for message in brain.seen[-1] if message["role"] == "tool"]
    assert said[0] == "no score: no attempt has been seen yet"
    assert "verified by the reward monitor" in said[-1]
