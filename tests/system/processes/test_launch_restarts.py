"""What a launch file does at the end of a node, by its exit code and the number of restarts that are left."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from openral_cli.deploy import launch_nodes
from openral_core.guarded_callbacks import EXIT_UNFIT

RUNNING, ENDING = SimpleNamespace(is_shutdown=False), SimpleNamespace(is_shutdown=True)


def exits(code: int) -> SimpleNamespace:
    return SimpleNamespace(returncode=code)


def reaction(left: int):
    return launch_nodes.again("it", lambda left: f"node with {left} left", left, "lost", "done")


@pytest.mark.parametrize("code", [1, 134, -6, -9, -11])
def test_after_a_bug_or_a_signal_it_is_started_again_as_often_as_allowed(code):
    for left in range(launch_nodes.RESTARTS, 0, -1):
        said, node = reaction(left)(exits(code), RUNNING)
        assert node == f"node with {left - 1} left"
        words = "".join(part.perform(None) for part in said.msg)
        assert words == f"it ended with {code}; it is started again, {left - 1} times more at most"
    assert reaction(0)(exits(code), RUNNING) == "lost"


def test_a_node_that_has_run_for_long_has_all_its_restarts_again(monkeypatch):
    """A deployment that runs for weeks does not lose a node for good by its fourth fault."""
    now_s = 1000.0
    monkeypatch.setattr(launch_nodes, "time", SimpleNamespace(monotonic=lambda: now_s))
    reacts, never = reaction(0), launch_nodes.again("it", str, 0, "lost", "done", most=0)
    now_s += launch_nodes.FORGIVEN_S
    assert reacts(exits(1), RUNNING) == "lost"
    now_s += 1.0
    assert reacts(exits(1), RUNNING)[1] == f"node with {launch_nodes.RESTARTS - 1} left"
    assert never(exits(1), RUNNING) == "lost"


def test_a_node_that_breaks_down_whenever_it_has_nearly_loaded_is_given_up(monkeypatch):
    now_s, answers = 1000.0, []
    monkeypatch.setattr(launch_nodes, "time", SimpleNamespace(monotonic=lambda: now_s))
    left = launch_nodes.RESTARTS
    while "lost" not in answers and len(answers) < 20:
        react = launch_nodes.again("it", lambda remain: remain, left, "lost", "done")
        now_s += launch_nodes.LOADING_S
        answer = react(exits(-9), RUNNING)
        answers.append(answer if answer == "lost" else answer[1])
        left = answers[-1]
    assert answers == [2, 1, 0, "lost"]


def test_what_cannot_run_ends_the_launch_and_an_end_by_itself_is_one():
    assert type(reaction(3)(exits(EXIT_UNFIT), RUNNING)).__name__ == "Shutdown"
    assert reaction(3)(exits(0), RUNNING) == "done"


def test_what_ran_and_cannot_run_any_more_is_gone_without():
    """A console whose port another program has taken meanwhile ends no mission."""
    assert reaction(2)(exits(EXIT_UNFIT), RUNNING) == "lost"


@pytest.mark.parametrize("code", [0, 1, EXIT_UNFIT, -2, -9])
def test_nothing_is_started_while_the_launch_ends(code):
    assert reaction(3)(exits(code), ENDING) is None


@pytest.mark.parametrize(("run_dir", "restarted"), [("run", True), ("", False)])
def test_a_reasoner_without_a_run_folder_has_nothing_to_go_on_with(monkeypatch, run_dir, restarted):
    reactions = []
    monkeypatch.setattr(launch_nodes, "node", lambda *arguments: reactions.append(arguments[-1]))
    values = {"run_dir": run_dir, "exit_when_done": "true", "memory_file": ""}
    launch_nodes.reasoner("open the drawer", True, values, {})
    answer = reactions[0](exits(1), RUNNING)
    assert isinstance(answer, list) is restarted
    assert len(reactions) == 1 + restarted
