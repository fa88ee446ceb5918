"""A mission for people to read: as a table, as lines of its log, and as plain values for JSON.

The functions take `openral/msg` messages, or objects with the same fields.
"""

from __future__ import annotations

from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from openral_core.cli.printable import MAX_SHOWN, plain_line
from openral_core.mission_record import KIND_WIDTH

ENDED = ("done", "failed", "stopped")
"""States of a mission that has ended, as in `MissionState`, whose module imports numpy."""
COLOURS = {"done": "green", "active": "cyan", "verifying": "cyan", "abandoned": "red", "failed": "red"}


def table_of(mission: Any) -> Table:
    """Return the tasks of an `openral/msg/Mission` as a table; steps of a decomposed task are indented.

    Skill and outcome of a task stand on lines of their own, so that the table fits 80 columns.
    """
    table = Table(
        title=Text(plain_line(mission.text, MAX_SHOWN)) if mission.text else None,
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style="dim",
    )
    table.add_column("task", overflow="fold")
    table.add_column("state", no_wrap=True)
    for column in ("tries", "progress", "s"):
        table.add_column(column, justify="right", no_wrap=True)
    for task in mission.tasks:
        seconds = f"{task.ended_s - task.started_s:.1f}" if task.ended_s else "-"
        progress = f"{task.progress:.2f}" if task.progress >= 0 else "-"
        skill = plain_line(task.skill).rsplit("/", 1)[-1].removeprefix("rskill-")
        cell = Text(plain_line(task.text, MAX_SHOWN))
        for words in (skill, plain_line(task.outcome, MAX_SHOWN)):
            cell.append(f"\n{words}" if words else "", style="dim")
        table.add_row(
            Padding(cell, (0, 0, 0, 2 * min(task.depth, 9))),
            Text(plain_line(task.state), style=COLOURS.get(task.state, "")),
            str(task.attempts),
            progress,
            seconds,
        )
    return table


def line_of(step: Any) -> str:
    """Return an `openral/msg/MissionStep` as a line: time on the node's clock, kind, reason."""
    stamp = step.header.stamp
    kind, reason = plain_line(step.kind, 20), plain_line(step.reason, MAX_SHOWN)
    return f"{stamp.sec + stamp.nanosec * 1e-9:9.1f} s  {kind:<{KIND_WIDTH}} {reason}"


def values_of(mission: Any) -> dict[str, Any]:
    """Return an `openral/msg/Mission` as plain values."""
    names = ("id", "text", "state", "active_task", "message", "question")
    of_task = (
        "id",
        "text",
        "skill",
        "skill_task",
        "match_score",
        "state",
        "attempts",
        "depth",
        "progress",
        "success",
        "outcome",
        "started_s",
        "ended_s",
    )
    tasks = [{name: getattr(task, name) for name in of_task} for task in mission.tasks]
    own = {name: getattr(mission, name) for name in names}
    return {**own, "answers": list(mission.answers), "tasks": tasks}
