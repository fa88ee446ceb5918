"""`openral mission` beside a running reasoner: what it shows, tells and stops."""

from __future__ import annotations

import json
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
    assert "stopped" in output
    assert graph.mission()["state"] == "stopped"


def test_without_a_reasoner_each_says_how_to_start_one(graph: Graph) -> None:
    verbs = ("show", "watch", "log", "cancel")
    for process in [graph.start("commands", "mission", verb, "--patience", "1") for verb in verbs]:
        code, output = end_of(process)
        assert code == 2, output
        assert "openral deploy sim" in output
