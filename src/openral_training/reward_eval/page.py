"""An evaluation of a reward model as one HTML page with SVG plots, which needs no network access."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from openral_core.html.plots import PLOT_STYLE, Point, plot

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; } td, th { padding: .2rem .8rem; text-align: left; }
th { border-bottom: 2px solid #999; } td { border-bottom: 1px solid #ddd; } td.n, th.n { text-align: right; }
figure { display: inline-block; margin: 1rem 0; } figcaption { color: #555; }
"""
_TASK_COLUMNS = ("films", "done", "voc_mean", "auroc", "false_success", "missed_success", "abstained")


def page(content: Mapping[str, Any]) -> str:
    """Return the HTML page for an eval JSON that `openral_training.reward_eval.run.evaluate` returned."""
    results, benchmark, source = content["results"], content["benchmark"], content["provenance"]
    title = f"{source['skill']} on {benchmark['name']}"
    return "".join(
        [
            f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)}</title>",
            f"<style>{_STYLE}{PLOT_STYLE}</style>",
            f"<h1>{escape(title)}</h1><p>{escape(benchmark['protocol'])}. {escape(benchmark['deviations'])}.</p>",
            _table(("measure", "value"), headline(results)),
            _figure(_curves(results["curves"]), "Mean progress over the share of the film that has passed"),
            _figure(
                _reliability(results["calibration"]),
                "How often it was so, over how probable it was said to be",
            ),
            "<h2>By behaviour</h2>",
            _table(
                ("behaviour", "films", "done", "yes", "no", "abstain", "progress", "score"),
                [
                    (
                        name,
                        *(str(row[key]) for key in ("films", "done", "yes", "no", "abstain")),
                        f"{row['progress_mean']:.2f}",
                        f"{row['score_mean']:.2f}",
                    )
                    for name, row in results["by_behaviour"].items()
                ],
            ),
            "<h2>By task of the words</h2>",
            _table(
                ("task", "films", "done", "VOC", "AUROC", "false success", "missed success", "abstained"),
                [
                    (name, *("–" if row[key] is None else str(row[key]) for key in _TASK_COLUMNS))
                    for name, row in results["by_task"].items()
                ],
            ),
            "<h2>Where it comes from</h2>",
            _table(("", ""), [(name, _text(value)) for name, value in source.items()]),
            "</html>\n",
        ]
    )


def headline(results: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the names and formatted values of the main measures, for pages and terminals."""
    threshold, latency, ranks = results["threshold"], results["latency"], results["ranking"]
    shares = {
        f"successes missed in the last frame, at {threshold}": "missed_success",
        "successes abstained on": "abstained_on_success",
        f"failures called success in the last frame, at {threshold}": "false_success",
        "failures abstained on": "abstained_on_failure",
        "never done, called success in any frame": "false_success_in_any_frame",
    }
    eces = {name: entry["ece"] for name, entry in results["calibration"].items() if name != "frames"}
    kinds = results["called_done_by_kind"].items()
    return [
        *((f"called done and was not: {kind}", _share(entry)) for kind, entry in kinds),
        *((words, _share(results[name])) for words, name in shares.items()),
        ("VOC, Spearman, mean", f"{results['voc_mean']:.3f} (n = {results['voc_rollouts']})"),
        ("VOC, Kendall tau-b, mean", f"{results['voc_kendall_mean']:.3f}"),
        ("AUROC", f"{results['auroc']:.4f} ({results['successes']} / {results['failures']})"),
        ("AUPRC", f"{results['auprc']:.4f}"),
        *(
            (f"ranking, {name.replace('_', ' < ')}", f"{row['accuracy']:.3f} of {row['pairs']} pairs")
            for name, row in ranks.items()
            if row["pairs"]
        ),
        *((f"calibration error (ECE), {name}", f"{value:.3f}") for name, value in eces.items()),
        (
            f"scoring {latency['frames']} frames",
            f"{latency['p50_ms']:.0f} ms, p95 {latency['p95_ms']:.0f} ms",
        ),
    ]


def _share(entry: Mapping[str, Any]) -> str:
    if entry["rate"] is None:
        return "–"
    low, high = entry["wilson_95"]
    return f"{100 * entry['rate']:.1f} % ({100 * low:.1f} to {100 * high:.1f}), {entry['count']} of {entry['of']}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = "".join(f"<th>{escape(word)}" for word in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{cells}</tr>{body}</table>"


def _figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def _curves(curves: Mapping[str, Sequence[float]]) -> str:
    lines = {
        name: [(index / (len(values) - 1), value) for index, value in enumerate(values)]
        for name, values in curves.items()
    }
    return plot(lines)


def _reliability(calibration: Mapping[str, Any]) -> str:
    lines: dict[str, list[Point]] = {"perfect": [(0.0, 0.0), (1.0, 1.0)]}
    for name, entry in calibration.items():
        if name != "frames":
            lines[name] = [(row["said"], row["true"]) for row in entry["bins"]]
    return plot(lines)


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {entry}" for name, entry in value.items())
    return str(value)
