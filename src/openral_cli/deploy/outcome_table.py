"""The table at the end of a run."""

from __future__ import annotations

from typing import Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from openral_cli.deploy.run_outcome import RunOutcome, TaskOutcome
from openral_core.mission_record import words_after

COLUMNS: tuple[tuple[str, Literal["left", "right"]], ...] = (
    ("task", "left"),
    ("tries", "right"),
    ("reasoner", "left"),
    ("simulator", "left"),
    ("steps", "right"),
    ("sim/wall\ns", "right"),
    ("rate\nHz", "right"),
    ("infer\nms", "right"),
    ("prog-\nress", "right"),
)
"""Heads and alignments; `infer` is the wall time of an inference, p50/p95. The table fits into 80 columns."""


def print_outcome(console: Console, outcome: RunOutcome) -> None:
    """Print the simulator's disagreements, one row for each task, why tasks did not pass, and the verdict."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for name, justify in COLUMNS:
        table.add_column(name, justify=justify, overflow="fold", no_wrap=name != "task")
    for task in outcome.tasks:
        table.add_row(*_cells(task))
    console.print()
    for task in outcome.disagreements:
        console.print(f"[bold red]{escape(disagreement(task))}[/]", soft_wrap=True)
    console.print(f'[bold]"{escape(outcome.mission)}"[/bold]', soft_wrap=True)
    console.print(table)
    for words in outcome.disturbances:
        console.print(f"[yellow]disturbed[/yellow]: {escape(words)}", soft_wrap=True)
    for task in outcome.tasks:
        if not task.passed and (why := _why_not(task)):
            console.print(f"[red]{escape(task.text)}[/red]: {escape(why)}", soft_wrap=True)
    if outcome.rejected_chunks:
        what = "1 chunk was" if outcome.rejected_chunks == 1 else f"{outcome.rejected_chunks} chunks were"
        console.print(f"[yellow]{what} refused by the bridge[/yellow]")
    if outcome.passed:
        console.print("[green]mission done[/green]; the simulator agrees on every task")
    elif outcome.state == "done":
        verdict = "is not" if outcome.disagreements else "not judged in full"
        console.print(
            f"[red]mission called done, and {verdict}[/red]: {escape(outcome.message)}", soft_wrap=True
        )
    else:
        console.print(
            f"[red]mission {escape(outcome.state)}[/red]: {escape(words_after(outcome.state, outcome.message))}",
            soft_wrap=True,
        )


def _cells(task: TaskOutcome) -> list[str]:
    verdict = {True: "[green]success[/green]", False: "[red]failure[/red]", None: "-"}
    latency = "-"
    if task.latency_p50_ms is not None and task.latency_p95_ms is not None:
        latency = f"{task.latency_p50_ms:.0f}/{task.latency_p95_ms:.0f}"
    return [
        f"{escape(task.text)}\n[dim]{escape(task.skill.rsplit('/', 1)[-1].removeprefix('rskill-'))}[/dim]",
        str(task.attempts),
        f"[{'green' if task.state == 'done' else 'red'}]{escape(task.state)}[/]",
        verdict[task.simulator_success],
        str(task.steps),
        f"{task.sim_s:.1f}/{task.wall_s:.1f}",
        f"{task.effective_hz:.1f}",
        latency,
        f"{task.progress:.2f}" if task.progress >= 0 else "-",
    ]


def disagreement(task: TaskOutcome) -> str:
    """Return, in words, how the simulator's verdict differs from the reasoner's."""
    if task.simulator_success:
        return f"the simulator disagrees: '{task.text}' is done, and the reasoner left it {task.state}"
    return f"the simulator disagrees: '{task.text}' was called done, and is not"


def _why_not(task: TaskOutcome) -> str:
    """Return why a task did not pass; empty if it is among the simulator's disagreements."""
    if task.state != "done":
        return task.outcome or f"left {task.state}"
    if task.simulator_success is None:
        return f"the simulator cannot judge '{task.skill_task}': {task.unjudged or 'it did not run'}"
    return ""  # it is among the disagreements, which are printed first
