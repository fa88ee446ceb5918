"""A run as one HTML page that needs no network: result, learning curves, evaluations, episodes and videos."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from openral_benchmark.embedded_videos import GALLERY_STYLE, thumbnails
from openral_core.html.episode_page_parts import begin, fact_rows, interval_bar, task_table
from openral_core.html.plots import PLOT_STYLE, Point, plot
from openral_training.rl.metrics_log import FILE_NAME, STEP

PAGE = "report.html"
_LINES = {
    "KL of an update (to the policy that acted)": (
        "train/actor/approx_kl",
        "train/kl_last_epoch",
    ),
    "Share of probability ratios that were clipped": ("train/actor/clip_fraction",),
    "Reward of a control step while exploring": ("env/reward",),
    "Explained variance of the critic": ("train/critic/explained_variance",),
    "KL to the base policy": ("train/actor/kl_to_base",),
    "Control steps of an episode while exploring": ("env/episode_len",),
}
"""Captions of the curves and their metrics; a metric that a run does not have is left out."""
_STYLE = "figure { display: inline-block; margin: 1rem 0; } figure.p { width: 26rem; } figcaption { color: #555; }\n"
Rows = Sequence[Mapping[str, str]]


def page(folder: Path, result: Mapping[str, Any], settings: str) -> str:
    """Return the page of a run.

    Args:
        folder: of the run, with `metrics.csv` and `eval/`; videos whose files are missing are left out.
        result: content of `result.json`.
        settings: of the run, as YAML.
    """
    with (folder / FILE_NAME).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    title = f"Reinforcement learning: {folder.name}"
    parts = [
        begin(title, GALLERY_STYLE, PLOT_STYLE, _STYLE),
        *_summary(result),
        "<h2>Learning curves</h2>",
        *_success(rows),
        *_curves(rows),
        "<h2>Evaluations</h2>",
        *_evaluations(folder, result["updates"]),
        "<h2>The result, episode by episode</h2>",
        *task_table(result["policy"]["tasks"], result["episodes"]),
        *thumbnails(result["films"], folder),
        f"<h2>Settings</h2><pre>{escape(settings)}</pre></html>\n",
    ]
    return "".join(parts)


def _summary(result: Mapping[str, Any]) -> Iterator[str]:
    before, after = (result[name]["all_episodes"] for name in ("base", "policy"))
    yield (
        f"<p>The base solved {before['successes']} of {before['n_episodes']} held-out initial states, the policy after "
        f"{result['updates']} updates <b>{after['successes']} of {after['n_episodes']}</b>; both acted greedily, once "
        "from each state.</p><table id=summary>"
    )
    for name, entry in (("base", before), ("policy", after)):
        yield f"<tr><td>{name}<td class=n>{entry['success_rate']:.2f}<td>{interval_bar(entry)}</tr>"
    yield "</table><table>"
    yield from fact_rows(
        {"updates": result["updates"], "control steps simulated to learn": result["env_steps"]}
    )
    yield "</table>"


def _success(rows: Rows) -> Iterator[str]:
    """Yield success by task, while exploring and as evaluated."""
    for kind, caption in (
        ("env", "Success while exploring"),
        ("eval", "Success on held-out states, acting greedily"),
    ):
        prefix = f"{kind}/success_once"
        names = [name for name in rows[0] if name.startswith(f"{prefix}/")]
        lines = {name.removeprefix(f"{prefix}/"): _points(rows, name) for name in names}
        if len(names) > 1:
            lines["all tasks"] = _points(rows, prefix)
        yield _figure(lines, caption, (0.0, 1.0))


def _curves(rows: Rows) -> Iterator[str]:
    for caption, names in _LINES.items():
        lines = {name.rsplit("/", 1)[-1]: _points(rows, name) for name in names if name in rows[0]}
        values = [value for points in lines.values() for _, value in points]
        if values:
            yield _figure(lines, caption, (min(0.0, *values), max(values)))


def _figure(lines: Mapping[str, Sequence[Point]], caption: str, y: Point) -> str:
    steps = [step for points in lines.values() for step, _ in points]
    if not steps:
        return ""
    drawn = plot(lines, (0.0, max(steps)), y)
    return f"<figure class=p>{drawn}<figcaption>{escape(caption)}, over updates</figcaption></figure>"


def _points(rows: Rows, name: str) -> list[Point]:
    points = [(float(row[STEP]), float(row[name])) for row in rows if row.get(name)]
    return [point for point in points if math.isfinite(point[1])]


def _evaluations(folder: Path, updates: int) -> Iterator[str]:
    """Yield a table of all evaluations, in the order of updates; the one after the last of them is the policy's."""
    yield "<table id=evaluations><tr><th>policy<th>task<th class=n>solved<th class=n>rate<th>95 % interval</tr>"
    files = {path.stem: path for path in (folder / "eval").glob("*.json")}
    numbers = sorted(int(name[5:]) for name in files if name.startswith("eval_"))
    between = [f"eval_{number}" for number in numbers if number < updates]
    for name in ("base", *between, "policy"):
        evaluation = json.loads(files[name].read_text(encoding="utf-8"))
        label = name.replace("eval_", "after update ")
        for task, entry in {**evaluation["tasks"], "all tasks": evaluation["all_episodes"]}.items():
            yield (
                f"<tr><td>{label}<td>{escape(task)}<td class=n>{entry['successes']}/{entry['n_episodes']}"
                f"<td class=n>{entry['success_rate']:.2f}<td>{interval_bar(entry)}</tr>"
            )
    yield "</table>"
