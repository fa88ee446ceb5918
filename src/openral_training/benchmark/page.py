"""A result as one HTML page that needs no network: rates with intervals, films, every episode, where it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from openral_training.benchmark.gallery import GALLERY_STYLE, gallery

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 68rem; padding: 0 1rem; color: #222; }
h2 { margin-top: 2.5rem; } .scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; } td, th { padding: .2rem .8rem; text-align: left; }
th { border-bottom: 2px solid #999; } td { border-bottom: 1px solid #ddd; vertical-align: top; }
.n { text-align: right; }
.bar { position: relative; width: 14rem; height: .9rem; margin-top: .3rem; background: #eee; }
.bar i { position: absolute; top: 0; height: 100%; background: #9bc; }
.bar b { position: absolute; top: 0; width: 2px; height: 100%; background: #135; }
.e { display: inline-block; width: .8rem; height: .8rem; margin: 1px; background: #c66; } .e.s { background: #6a6; }
.e.x { background: #999; } .k { white-space: nowrap; } td { overflow-wrap: anywhere; }
.note { border-left: 4px solid #c93; padding: .1rem .8rem; background: #fdf6e8; }
"""


def page(content: dict[str, Any], folder: Path) -> str:
    """Return the page of a result.

    Args:
        content: `openral_training.benchmark.execute.execute`'s result.
        folder: of the run, in which its films lie; those that are gone are left out.
    """
    config, results = content["eval_config"], content["results"]
    title = f"{config['vla_id']} on {content['benchmark']['name']}"
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{_STYLE}{GALLERY_STYLE}</style>",
        f"<h1>{escape(title)}</h1>",
        *_summary(content),
        "<div class=scroll><table id=tasks>"
        "<tr><th>task<th class=n>solved<th class=n>rate<th>95 % interval<th>episodes</tr>",
        *(_task_row(task, entry, results["episodes"]) for task, entry in results["tasks"].items()),
        "</table></div><p>Green: solved; red: not; grey: no result, a failure. Bars are Wilson intervals.</p>",
        *gallery(content.get("films", []), folder),
        *_errors(results["episodes"]),
        "<h2>Where it comes from</h2><table id=provenance>",
        *_rows(content["provenance"]),
        *_rows({f"run {name}": value for name, value in content.get("engine", {}).items()}),
        "</table></html>\n",
    ]
    return "".join(parts)


def _summary(content: dict[str, Any]) -> Iterator[str]:
    benchmark, config, results = content["benchmark"], content["eval_config"], content["results"]
    everything = results["all_episodes"]
    low, high = everything["wilson_95"]
    yield (
        f"<p><b>{everything['successes']} of {everything['n_episodes']}</b> episodes solved, mean over tasks "
        f"<b>{results['avg_success_rate']:.3f}</b>, 95 % interval of all episodes {low:.3f} to {high:.3f}.</p>"
    )
    yield (
        f"<p>{escape(str(benchmark['protocol']))} Initial states {config['init_ids'][0]} to "
        f"{config['init_ids'][1]}, at most {config['max_steps']} steps. Look: "
        f"{escape(str(benchmark['render_profile']))}. {escape(str(benchmark['simulator']))}.</p>"
    )
    yield from (
        f"<p class=note>Differs from the protocol: {escape(text)}.</p>" for text in config["deviations"]
    )


def _task_row(task: str, entry: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    low, high = entry["wilson_95"]
    cells = "".join(_cell(row) for row in rows if row["task"] == task)
    return (
        f"<tr><td>{escape(task)}<td class=n>{entry['successes']}/{entry['n_episodes']}"
        f"<td class=n>{entry['success_rate']:.2f}<td>{_bar(low, entry['success_rate'], high)}<td>{cells}</tr>"
    )


def _bar(low: float, rate: float, high: float) -> str:
    return (
        f"<div class=bar title='{low:.3f} to {high:.3f}'><i style='left:{100 * low:.1f}%;"
        f"width:{100 * (high - low):.1f}%'></i><b style='left:{100 * rate:.1f}%'></b></div>"
    )


def _cell(row: dict[str, Any]) -> str:
    kind = "x" if row["error"] else "s" if row["success"] else ""
    words = row["error"] or ("solved" if row["success"] else "failed")
    title = escape(f"state {row['init_id']}: {words}, {row['steps']} steps", quote=True)
    return f"<span class='e {kind}' title='{title}'></span>"


def _errors(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Say what kept episodes from a result, how often."""
    reasons = [row["error"] for row in rows if row["error"]]
    if reasons:
        yield "<h2>Episodes without a result</h2><ul>"
        yield from (f"<li>{reasons.count(text)}: {escape(text)}" for text in sorted(set(reasons)))
        yield "</ul>"


def _rows(values: dict[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        yield f"<tr><td class=k>{escape(name.replace('_', ' '))}<td>{escape(_text(value))}</tr>"


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(entry)}" for name, entry in value.items() if entry is not None)
    return "none" if value is None else str(value)
