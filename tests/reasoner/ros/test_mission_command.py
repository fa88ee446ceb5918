"""`openral mission` beside a running reasoner: what it shows, tells and stops."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from reasoner_graph import Graph, end_of

PATIENCE = ("--patience", "60")


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    graph = Graph(tmp_path)
    yield graph
    graph.close()


def test_a_mission_is_shown_told_watched_and_stopped(graph: Graph) -> None:
    graph.skill(max_execution_s=600.0)
    graph.monitor(levels=[0.5])
    graph.reasoner("open the drawer", exit_when_done=False, **{"gate.default_patience_s": 600.0})
    graph.wait_for("reading")

    code, shown = end_of(graph.start("commands", "mission", "show", "--json", *PATIENCE))
    mission = json.loads(shown)
    assert (code, mission["state"], mission["text"]) == (0, "active", "open the drawer")
    assert [(task["skill_task"], task["state"]) for task in mission["tasks"]] == [
        ("open-the-drawer", "active")
    ]

    code, told = end_of(graph.start("commands", "mission", "log", *PATIENCE))
    kinds = [line.split()[2] for line in told.splitlines()]
    assert code == 0, told
    assert kinds[:3] == ["prompt", "plan", "attempt"], told

    watcher = graph.start("commands", "mission", "watch", *PATIENCE)
    code, output = end_of(graph.start("commands", "mission", "cancel", *PATIENCE))
    assert code == 0, output
    code, output = end_of(watcher)
    assert code == 1, output
    assert 'the operator said "stop"' in output

    code, output = end_of(graph.start("commands", "mission", "show", *PATIENCE))
    assert code == 0
    assert 'stopped: the operator said "stop"' in output
    assert "stopped: stopped" not in output

    code, output = end_of(graph.start("commands", "mission", "cancel", *PATIENCE))
    assert (code, output.strip()) == (0, '"stop": no mission is running')
    assert graph.mission()["state"] == "stopped"


def test_who_follows_a_mission_is_told_that_its_reasoner_went_away(graph: Graph) -> None:
    graph.skill(max_execution_s=600.0)
    reasoner = graph.reasoner()
    prompt = graph.prompt("open the drawer", *PATIENCE)
    graph.wait_for("attempt")
    reasoner.kill()
    code, output = end_of(prompt)
    assert code == 2, output
    assert "The reasoner went away in the middle of the mission" in output


def test_without_a_reasoner_each_says_how_to_start_one(graph: Graph) -> None:
    verbs = ("show", "watch", "log", "cancel")
    for process in [graph.start("commands", "mission", verb, "--patience", "1") for verb in verbs]:
        code, output = end_of(process)
        assert code == 2, output
        assert "openral deploy sim" in output


@pytest.mark.parametrize("verb", ["cancel", pytest.param("watch", marks=pytest.mark.slow)])
def test_the_advice_is_for_the_namespace_that_was_asked_for(graph: Graph, verb: str) -> None:
    _, output = end_of(graph.start("commands", "mission", verb, "--patience", "1", "--namespace", "arm2"))
    assert "`openral deploy sim --namespace /arm2`" in output


@pytest.mark.parametrize(
    "words",
    [
        ("prompt", "open it"),
        *(pytest.param(("mission", *more), marks=pytest.mark.slow) for more in (["watch"], ["log", "-f"])),
    ],
)
def test_interrupted_before_there_is_a_reasoner(graph: Graph, words: tuple[str, ...]) -> None:
    process = graph.start("commands", *words, *PATIENCE)
    code, output = interrupted(process)
    assert code == 130, output
    assert "goes on" not in output
    assert ("Nothing was said" in output) == (words[0] == "prompt")


@pytest.mark.slow
def test_interrupted_beside_a_mission(graph: Graph) -> None:
    graph.skill(max_execution_s=600.0)
    graph.monitor(levels=[0.5])
    graph.reasoner("open the drawer", exit_when_done=False, **{"gate.default_patience_s": 600.0})
    graph.wait_for("reading")
    assert interrupted(graph.start("commands", "mission", "watch", *PATIENCE))[0] == 130
    assert interrupted(graph.start("commands", "mission", "log", "-f", *PATIENCE))[0] == 0


def interrupted(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Interrupt a command once it listens to the graph."""
    listening = Path(f"/proc/{process.pid}/task")
    end = time.monotonic() + 60.0
    while len(list(listening.iterdir())) < 2 and time.monotonic() < end:
        time.sleep(0.1)
    time.sleep(4.0)
    process.send_signal(signal.SIGINT)
    return end_of(process)
