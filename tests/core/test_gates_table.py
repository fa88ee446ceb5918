"""The table of gates: what is wrong, and below it how each fault is mended."""

from __future__ import annotations

import pytest

from openral_core.cli.tables import print_gates


def test_each_of_several_faults_of_one_gate_stands_beside_its_fix(capsys: pytest.CaptureFixture[str]) -> None:
    print_gates(
        [
            ("world", False, "robot.yaml:3: kind: is missing", "add it"),
            ("world", False, "robot.yaml:4: hand: unknown key", "remove it"),
            ("holds", False, "9 mm in 1 s", "stiffen the actuators"),
            ("tasks", True, "none is done", "nothing"),
        ]
    )
    below = capsys.readouterr().out.partition("\n\n")[2]
    assert below.splitlines() == [
        "world",
        "  robot.yaml:3: kind: is missing; add it",
        "  robot.yaml:4: hand: unknown key; remove it",
        "",
        "holds",
        "  stiffen the actuators",
    ]
