"""Pieces of pages about judged episodes: rates with intervals, a box an episode, tables of what is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 68rem; padding: 0 1rem; color: #222; }
h2 { margin-top: 2.5rem; } .scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; } td, th { padding: .2rem .8rem; text-align: left; }
th { border-bottom: 2px solid #999; } td { border-bottom: 1px solid #ddd; vertical-align: top; }
.n { text-align: right; }
.bar { position: relative; width: 14rem; height: .9rem; margin-top: .3rem; background: #eee; }
.bar i { position: absolute; top: 0; height: 100%; background: #9bc; }
.bar b { position: absolute; top: 0; width: 2px; height: 100%; background: #135; }
.e { display: inline-block; width: .8rem; height: .8rem; margin: 1px; background: #c66; } .e.s { background: #6a6; }
.e.x { background: #999; } .k { white-space: nowrap; } td { overflow-wrap: break-word; }
.note { border-left: 4px solid #c93; padding: .1rem .8rem; background: #fdf6e8; }
"""
Entry = Mapping[str, Any]
"""A rate: `successes`, `n_episodes`, `success_rate`, `wilson_95`."""
Row = Mapping[str, Any]
"""An episode: `task`, `init_id`, `success`, `steps`, perhaps `error`."""


def begin(title: str, *styles: str) -> str:
    """Return the beginning of a page that needs no network, up to its headline."""
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{STYLE}{''.join(styles)}</style><h1>{escape(title)}</h1>"
    )


def task_table(tasks: Mapping[str, Entry], rows: Sequence[Row]) -> Iterator[str]:
    """Yield a table of rates by task, with every episode."""
    yield "<div class=scroll><table id=tasks>"
    yield "<tr><th>task<th class=n>solved<th class=n>rate<th>95 % interval<th>episodes</tr>"
    yield from (_task_row(task, entry, rows) for task, entry in tasks.items())
    yield "</table></div><p>Green: solved; red: not; grey: no result, a failure. Bars are Wilson intervals.</p>"


def fact_rows(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield a row of a table for each thing that is known."""
    for name, value in values.items():
        yield f"<tr><td class=k>{escape(name.replace('_', ' '))}<td>{escape(_text(value))}</tr>"


def interval_bar(entry: Entry) -> str:
    """Return a bar from 0 to 1 with a rate and its interval."""
    (low, high), rate = entry["wilson_95"], entry["success_rate"]
    return (
        f"<div class=bar title='{low:.3f} to {high:.3f}'><i style='left:{100 * low:.1f}%;"
        f"width:{100 * (high - low):.1f}%'></i><b style='left:{100 * rate:.1f}%'></b></div>"
    )


def _task_row(task: str, entry: Entry, rows: Sequence[Row]) -> str:
    cells = "".join(_cell(row) for row in rows if row["task"] == task)
    return (
        f"<tr><td>{escape(task)}<td class=n>{entry['successes']:d}/{entry['n_episodes']:d}"
        f"<td class=n>{entry['success_rate']:.2f}<td>{interval_bar(entry)}<td>{cells}</tr>"
    )


def _cell(row: Row) -> str:
    error = row.get("error")
    kind = "x" if error else "s" if row["success"] else ""
    words = error or ("solved" if row["success"] else "failed")
    title = escape(f"state {row['init_id']}: {words}, {row['steps']} steps", quote=True)
    return f"<span class='e {kind}' title='{title}'></span>"


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_text(entry)}" for name, entry in value.items() if entry is not None)
    return "none" if value is None else str(value)
