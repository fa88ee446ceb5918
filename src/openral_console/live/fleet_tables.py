"""Output of `openral fleet`: the state of each deployment in one word, as tables and as plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from openral_console.live.deployment import LiveDeployment
from openral_console.live.views import StopAnswer

COLOURS = {"stopped": "red", "silent": "red", "moving": "green", "taken over": "yellow"}


def doing(robot: LiveDeployment) -> str:
    """Return what the arm does: stopped, silent (its bridge says nothing), taken over, moving or holding."""
    control = robot.control
    is_silent = control is None or robot.control_is_stale
    if robot.estopped or (control is not None and control.estopped and not is_silent):
        return "stopped"
    if control is None or is_silent:
        return "silent"
    if control.operator:
        return "taken over"
    return "holding" if control.holding else "moving"


def values_of(robots: Mapping[str, LiveDeployment]) -> list[dict[str, Any]]:
    """Return plain values of each deployment, in the order of their namespaces."""
    rows = []
    for namespace, robot in sorted(robots.items()):
        control, mission = robot.control, robot.mission
        rows.append(
            {
                "namespace": namespace,
                "doing": doing(robot),
                "estopped": robot.estopped,
                "skill": control.skill if control is not None and not control.holding else "",
                "instruction": control.instruction if control is not None and not control.holding else "",
                "operator": control.operator if control is not None else "",
                "effective_hz": round(control.effective_hz, 2) if control is not None else None,
                "control_hz": control.control_hz if control is not None else None,
                "last_rejection": control.last_rejection if control is not None else "",
                "mission": mission.text if mission is not None else "",
                "mission_state": mission.state if mission is not None else "",
                "mission_message": mission.message if mission is not None else "",
                "question": mission.question if mission is not None else "",
                "skills": {name: skill.state for name, skill in sorted(robot.skills.items())},
            }
        )
    return rows


def list_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a line for each deployment."""
    table = Table(box=None)
    for column in ("namespace", "arm", "mission", "state", "skills"):
        table.add_column(column, overflow="fold")
    for row in rows:
        active = sum(state == "active" for state in row["skills"].values())
        table.add_row(
            Text(row["namespace"]),
            Text(row["doing"], style=COLOURS.get(row["doing"], "")),
            Text(row["mission"] or "-"),
            Text(row["mission_state"] or "-"),
            f"{active} of {len(row['skills'])} active",
        )
    return table


def status_table(row: Mapping[str, Any]) -> Table:
    """Return all that is shown of one deployment."""
    table = Table(box=None, show_header=False, title=Text(row["namespace"]), title_justify="left")
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("arm", Text(row["doing"], style=COLOURS.get(row["doing"], "")))
    if row["skill"]:
        table.add_row("runs", Text(f'{row["skill"]}: "{row["instruction"]}"'))
    if row["operator"]:
        table.add_row("taken over by", Text(row["operator"]))
    if row["control_hz"] is not None:
        table.add_row("rate", f"{row['effective_hz']:.1f} of {row['control_hz']:g} Hz")
    if row["last_rejection"]:
        table.add_row("last refused", Text(row["last_rejection"]))
    table.add_row("mission", Text(f'{row["mission_state"] or "none"}: "{row["mission"]}"'))
    table.add_row("says", Text(row["mission_message"] or "-"))
    if row["question"]:
        table.add_row("asks", Text(row["question"], style="yellow"))
    for name, state in row["skills"].items():
        table.add_row("skill", Text(f"{name}, {state}"))
    return table


def stop_table(answers: Sequence[StopAnswer]) -> Table:
    """Return a table with the answer of each deployment to a stop."""
    table = Table(box=None)
    for column in ("namespace", "emergency stop", "answered after"):
        table.add_column(column, overflow="fold")
    for answer in answers:
        words = (
            Text(answer.fault, style="red") if answer.fault else Text("latched, the arm holds", style="green")
        )
        late = "-" if math.isnan(answer.latency_s) else f"{1e3 * answer.latency_s:.0f} ms"
        table.add_row(Text(answer.namespace), words, late)
    return table
