"""A result as one HTML page that needs no network: rates with intervals, protocol, every episode."""

from __future__ import annotations

from html import escape
from typing import Any

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; } td, th { padding: .2rem .8rem; text-align: left; }
th { border-bottom: 2px solid #999; } td { border-bottom: 1px solid #ddd; } .n { text-align: right; }
.bar { position: relative; width: 14rem; height: .9rem; background: #eee; }
.bar i { position: absolute; top: 0; height: 100%; background: #9bc; }
.bar b { position: absolute; top: 0; width: 2px; height: 100%; background: #135; }
.e { display: inline-block; width: .8rem; height: .8rem; margin: 1px; background: #c66; } .e.s { background: #6a6; }
.e.x { background: #999; }
"""


def page(content: dict[str, Any]) -> str:
    """Return the page of a result (`openral_training.benchmark.result.result`)."""
    benchmark, config, results = content["benchmark"], content["eval_config"], content["results"]
    title = f"{config['vla_id']} on {benchmark['name']}"
    everything = results["all_episodes"]
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)}</title><style>{_STYLE}</style>",
        f"<h1>{escape(title)}</h1>",
        f"<p><b>{everything['successes']} of {everything['n_episodes']}</b> episodes, mean over tasks "
        f"<b>{results['avg_success_rate']:.3f}</b>, 95 % interval of all episodes "
        f"{everything['wilson_95'][0]:.3f} to {everything['wilson_95'][1]:.3f}.</p>",
        f"<p>{escape(str(benchmark['protocol']))} Look: {escape(str(benchmark['render_profile']))}. "
        f"{escape(str(benchmark['simulator']))}.</p>",
        *(f"<p>Differs from the protocol: {escape(text)}.</p>" for text in config["deviations"]),
        "<table><tr><th>task<th class=n>solved<th class=n>rate<th>95 % interval<th>episodes</tr>",
    ]
    for task, entry in results["tasks"].items():
        low, high = entry["wilson_95"]
        cells = "".join(_cell(row) for row in results["episodes"] if row["task"] == task)
        parts.append(
            f"<tr><td>{escape(task)}<td class=n>{entry['successes']}/{entry['n_episodes']}"
            f"<td class=n>{entry['success_rate']:.2f}<td>{_bar(low, entry['success_rate'], high)}<td>{cells}</tr>"
        )
    parts.append("</table><h2>Where it comes from</h2><table>")
    parts += [
        f"<tr><td>{escape(name)}<td>{escape(_text(value))}</tr>"
        for name, value in content["provenance"].items()
    ]
    parts.append("</table></html>\n")
    return "".join(parts)


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


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {entry}" for name, entry in value.items())
    return str(value)
