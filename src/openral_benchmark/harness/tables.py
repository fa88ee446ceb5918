"""The result table of a suite of missions: on the console, as an HTML page, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from pydantic import model_validator
from rich.console import Console
from rich.table import Table

from openral_benchmark.harness.result import ALL
from openral_benchmark.page import BenchmarkForm, Form, ReasonForm
from openral_core.cli.tables import cell_text
from openral_core.html.episode_page_parts import begin, fact_rows
from openral_core.schema import Fault, raise_faults

Content = Mapping[str, Any]


class _MissionConfigForm(Form):
    vla_id: Any
    variants: dict[str, str]
    truth: dict[str, list[str]]
    rows: dict[str, str]


class _ShareForm(Form):
    successes: Any
    n_episodes: Any


class _RowForm(Form):
    variants: dict[str, _ShareForm | None]
    claimed: Any
    claimed_and_never_done: Any


class _ComparisonForm(Form):
    row: str
    against: str
    variant: str
    n: Any
    won: Any
    lost: Any
    p_value: float


class _MissionResultsForm(Form):
    rows: dict[str, _RowForm]
    comparisons: list[_ComparisonForm]
    episodes: list[ReasonForm]


class MissionPageForm(Form):
    """The content of a result that `mission_page` shows."""

    benchmark: BenchmarkForm
    eval_config: _MissionConfigForm
    results: _MissionResultsForm
    provenance: dict[str, Any]

    @model_validator(mode="after")
    def _names_are_known(self) -> MissionPageForm:
        config, results = self.eval_config, self.results
        compared = {name for found in results.comparisons for name in (found.row, found.against)}
        unnamed = sorted((results.rows.keys() | config.truth.keys() | compared) - config.rows.keys())
        without = sorted(results.rows.keys() - config.truth.keys())
        raise_faults(
            [Fault("eval_config.rows", f"does not name the row {name}", "add it") for name in unnamed[:1]]
            + [Fault("eval_config.truth", f"does not name the row {name}", "add it") for name in without[:1]]
        )
        return self


def print_missions(content: Content, console: Console) -> None:
    """Print the table; of rows and variants, those of which there are more go downwards, to fit a narrow terminal."""
    heads, lines = mission_table(content)
    if len(heads) > len(lines) + 1:
        heads, *lines = (list(line) for line in zip(heads, *lines, strict=True))
        heads[0] = "variant"
    table = Table(*map(cell_text, heads), box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.columns[0].overflow = "fold"
    for line in lines:
        table.add_row(*map(cell_text, line))
    console.print(table)
    for remark in remarks(content):
        console.print(cell_text(remark), soft_wrap=True)


def mission_table(content: Content) -> tuple[list[str], list[list[str]]]:
    """Return heads and lines: solved episodes of n by row and variant, and the number of false claims of each row."""
    config, rows = content["eval_config"], content["results"]["rows"]
    variants = [*config["variants"], ALL]
    heads = ["row", *(config["variants"].get(name, name) for name in variants), "called done and never was"]
    lines = []
    for name, row in rows.items():
        truth = " *" if config["truth"][name] else ""
        cells = [_cell(row["variants"].get(variant)) for variant in variants]
        claims = f"{row['claimed_and_never_done']} of {row['claimed']}" if row["claimed"] else "–"
        lines.append([config["rows"][name] + truth, *cells, claims])
    return heads, lines


def comparison_table(content: Content) -> tuple[list[str], list[list[str]]]:
    """Return heads and lines of the paired comparisons: each over all variants, harness against script by variant."""
    config = content["eval_config"]
    heads = ["", "against", "in", "pairs", "won", "lost", "p"]
    lines = [
        [
            config["rows"][found["row"]],
            config["rows"][found["against"]],
            config["variants"].get(found["variant"], "all variants"),
            str(found["n"]),
            str(found["won"]),
            str(found["lost"]),
            f"{found['p_value']:.2g}",
        ]
        for found in content["results"]["comparisons"]
        if found["variant"] == ALL or (found["row"], found["against"]) == ("harness", "script")
    ]
    return heads, lines


def remarks(content: Content) -> list[str]:
    """Return the notes below the table: parts that the simulator answered for, and why episodes have no result."""
    config, results = content["eval_config"], content["results"]
    found = []
    if any(config["truth"].values()):
        found.append(f"* with the simulator's own {_truths(config)}, which no deployment has: an upper bound")
    reasons = [row["error"] for row in results["episodes"] if row["error"]]
    found += [f"episodes without a result, {reasons.count(text)}: {text}" for text in sorted(set(reasons))]
    return found


def _truths(config: Content) -> str:
    """Return, in words, the parts that the simulator answered for, with the rows where these differ."""
    rows_of: dict[str, list[str]] = {}
    for name, truth in config["truth"].items():
        if truth:
            rows_of.setdefault(" and ".join(truth), []).append(config["rows"][name])
    if len(rows_of) == 1:
        return next(iter(rows_of))
    return "; ".join(f"{truth} in {', '.join(names)}" for truth, names in rows_of.items())


def markdown(heads: list[str], lines: list[list[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *lines))


def mission_page(content: Content) -> str:
    """Return a result, of the form of `MissionPageForm`, as one HTML page that needs no network."""
    config, benchmark = content["eval_config"], content["benchmark"]
    parts = [
        begin(f"{config['vla_id']} on {benchmark['name']}"),
        f"<p>{escape(str(benchmark['protocol']))}</p>",
        *_html(*mission_table(content), "missions"),
        *(f"<p class=note>{escape(remark)}</p>" for remark in remarks(content)),
        "<h2>Compared episode by episode, exact McNemar test</h2>",
        *_html(*comparison_table(content), "comparisons"),
        "<h2>Where it comes from</h2><table id=provenance>",
        *fact_rows(content["provenance"]),
        "</table></html>\n",
    ]
    return "".join(parts)


def _html(heads: list[str], lines: list[list[str]], name: str) -> Iterator[str]:
    yield f"<div class=scroll><table id={name}><tr>"
    yield from (f"<th>{escape(head)}" for head in heads)
    yield "</tr>"
    for line in lines:
        yield "<tr>" + "".join(f"<td>{escape(cell)}" for cell in line) + "</tr>"
    yield "</table></div>"


def _cell(entry: Mapping[str, Any] | None) -> str:
    return "–" if entry is None else f"{entry['successes']}/{entry['n_episodes']}"
