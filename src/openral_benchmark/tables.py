"""Console output of a benchmark: lists of suites and tasks, and the result at the end of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from openral_core.cli.listing import RowListing
from openral_core.cli.tables import cell_text
from openral_core.suite import Suite


def print_suites(suites: Sequence[Suite], console: Console) -> None:
    """Print one row for each suite."""
    table = RowListing("suite", "tasks", "states", "steps", "robot", "look", "px")
    for suite in suites:
        first = suite.scenes[0]
        last = first.seed + first.n_episodes - 1
        world = first.scene
        table.add_row(
            escape(suite.id),
            str(len(suite.scenes)),
            f"{first.seed}–{last}",
            str(first.task.max_steps),
            escape(first.robot_id),
            escape(str(world.backend_options.get("render_profile", ""))),
            str(world.observation_width),
        )
    console.print(table)
    console.print("its tasks: openral benchmark list SUITE", soft_wrap=True)


def print_tasks(suite: Suite, console: Console) -> None:
    """Print one row for each task, and the suite's initial states and protocol."""
    table = RowListing("task", "words")
    for scene in suite.scenes:
        words = " | ".join(scene.task.instructions or (scene.task.instruction,))
        table.add_row(escape(scene.task.id), escape(words))
    console.print(table)
    first = suite.scenes[0]
    trained = f"; training may use {suite.train_init_ids}" if suite.train_init_ids else ""
    last = first.seed + first.n_episodes - 1
    console.print(cell_text(f"judged on initial states {first.seed} to {last}{trained}"), soft_wrap=True)
    scope = f"{first.metadata.honest_scope} {first.metadata.simulator or ''}".strip()
    console.print(cell_text(scope), soft_wrap=True)


def print_result(content: dict[str, Any], console: Console) -> None:
    """Print one row for each task, one for all of them, and the deviations of the run from the protocol."""
    results = content["results"]
    table = _table("task", "solved", "rate", "95 %", "steps", "return", "ms p50/95/99", "errors")
    for task, entry in results["tasks"].items():
        rows = [row for row in results["episodes"] if row["task"] == task and not row["error"]]
        steps = [row["steps"] for row in rows if row["success"]]
        returns = [row["return"] for row in rows if row["return"] is not None]
        table.add_row(
            cell_text(task.split("/", 1)[-1]),
            *_share(entry),
            f"{np.median(steps):.0f}" if steps else "–",
            f"{np.mean(returns):.1f}" if returns else "–",
            _latency(rows),
            str(entry["errors"] or ""),
        )
    whole = results["all_episodes"]
    solved, _, interval = _share(whole)
    table.add_section()
    table.add_row(
        "all", solved, f"{results['avg_success_rate']:.2f}", interval, "", "", "", str(whole["errors"] or "")
    )
    console.print(table)
    _print_remarks(content, console)


def _print_remarks(content: dict[str, Any], console: Console) -> None:
    results = content["results"]
    for text in content["eval_config"]["deviations"]:
        console.print(f"differs from the protocol: {cell_text(text)}", soft_wrap=True)
    reasons = [row["error"] for row in results["episodes"] if row["error"]]
    for text in sorted(set(reasons)):
        console.print(f"episodes without a result, {reasons.count(text)}: {cell_text(text)}", soft_wrap=True)
    if content.get("films"):
        console.print(f"films: {len(content['films'])}, on the page", soft_wrap=True)


def _share(entry: dict[str, Any]) -> tuple[str, str, str]:
    """Return, as text, solved episodes of n, success rate and 95 % interval."""
    low, high = entry["wilson_95"]
    solved = f"{entry['successes']}/{entry['n_episodes']}"
    return solved, f"{entry['success_rate']:.2f}", f"{low:.2f}–{high:.2f}"


def _latency(rows: Sequence[dict[str, Any]]) -> str:
    """Return, as text, the medians over episodes of the latency's percentiles 50, 95 and 99 [ms]."""
    if not rows:
        return "–"
    names = ("latency_p50_ms", "latency_p95_ms", "latency_p99_ms")
    medians = [float(np.median([row[name] for row in rows])) for name in names]
    return "/".join(f"{value:.0f}" if value >= 10 else f"{value:.1f}" for value in medians)


def _table(*columns: str) -> Table:
    table = Table(*columns, box=None, header_style="bold")
    table.columns[0].overflow = "fold"
    return table
