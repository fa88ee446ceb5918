"""What a benchmark prints at its end."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table


def print_result(content: dict[str, Any], console: Console) -> None:
    """Print one row a task, one for all, and where the run leaves the protocol."""
    results = content["results"]
    table = Table(
        "task", "solved", "rate", "95 %", "steps", "infer ms", "errors", box=None, header_style="bold"
    )
    table.columns[0].overflow = "fold"
    for task, entry in results["tasks"].items():
        rows = [row for row in results["episodes"] if row["task"] == task]
        steps = sorted(row["steps"] for row in rows if row["success"])
        latency = sorted(row["latency_p50_ms"] for row in rows)
        low, high = entry["wilson_95"]
        table.add_row(
            task.split("/", 1)[-1], f"{entry['successes']}/{entry['n_episodes']}", f"{entry['success_rate']:.2f}",
            f"{low:.2f}–{high:.2f}", str(steps[len(steps) // 2]) if steps else "–",
            f"{latency[len(latency) // 2]:.1f}", str(entry["errors"] or ""),
        )  # fmt: skip
    whole = results["all_episodes"]
    low, high = whole["wilson_95"]
    table.add_section()
    table.add_row(
        "all", f"{whole['successes']}/{whole['n_episodes']}",
        f"{results['avg_success_rate']:.2f}", f"{low:.2f}–{high:.2f}", "", "", str(whole["errors"] or ""),
    )  # fmt: skip
    console.print(table)
    for text in content["eval_config"]["deviations"]:
        console.print(f"differs from the protocol: {text}", soft_wrap=True)
    for text in sorted({row["error"] for row in results["episodes"] if row["error"]}):
        console.print(f"episodes without a result: {text}", soft_wrap=True)
