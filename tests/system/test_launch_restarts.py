"""What the launch file does at the end of a node, by its exit code and the number of restarts that are left."""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace

import pytest

from openral_core.files.share import share_directory
from openral_core.guarded import EXIT_UNFIT

RUNNING, ENDING = SimpleNamespace(is_shutdown=False), SimpleNamespace(is_shutdown=True)


@pytest.fixture(scope="module")
def launch_file():
    path = share_directory() / "launch" / "deploy_sim.launch.py"
    spec = importlib.util.spec_from_file_location("deploy_sim_launch", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def exits(code: int) -> SimpleNamespace:
    return SimpleNamespace(returncode=code)


def reaction(launch_file, left: int):
    return launch_file.again("it", lambda left: f"node with {left} left", left, "lost", "done")


@pytest.mark.parametrize("code", [1, 134, -6, -9, -11])
def test_after_a_bug_or_a_signal_it_is_started_again_as_often_as_allowed(launch_file, code):
    for left in range(launch_file.RESTARTS, 0, -1):
        said, node = reaction(launch_file, left)(exits(code), RUNNING)
        assert node == f"node with {left - 1} left"
        words = "".join(part.perform(None) for part in said.msg)
        assert words == f"it ended with {code}; it is started again, {left - 1} times more at most"
    assert reaction(launch_file, 0)(exits(code), RUNNING) == "lost"


def test_what_cannot_run_ends_the_launch_and_an_end_by_itself_is_one(launch_file):
    assert type(reaction(launch_file, 3)(exits(EXIT_UNFIT), RUNNING)).__name__ == "Shutdown"
    assert reaction(launch_file, 3)(exits(0), RUNNING) == "done"


@pytest.mark.parametrize("code", [0, 1, EXIT_UNFIT, -2, -9])
def test_nothing_is_started_while_the_launch_ends(launch_file, code):
    assert reaction(launch_file, 3)(exits(code), ENDING) is None


@pytest.mark.parametrize(("run_dir", "restarted"), [("run", True), ("", False)])
def test_a_reasoner_without_a_run_folder_has_nothing_to_go_on_with(
    launch_file, monkeypatch, run_dir, restarted
):
    reactions = []
    monkeypatch.setattr(launch_file, "node", lambda *arguments: reactions.append(arguments[-1]))
    values = {"run_dir": run_dir, "exit_when_done": "true", "memory_file": ""}
    launch_file.reasoner("open the drawer", True, values, {})
    answer = reactions[0](exits(1), RUNNING)
    assert isinstance(answer, list) is restarted
    assert len(reactions) == 1 + restarted
