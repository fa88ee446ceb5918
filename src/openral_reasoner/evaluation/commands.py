"""The verb `openral reasoner eval`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from openral_core.files.atomic import write_atomically
from openral_core.files.output_folder import check_file
from openral_reasoner.evaluation.monitor_ablation_command import ablation_command

reasoner = typer.Typer(
    help="Judge the reasoner: its plans, and its ladder of recovery.",
    no_args_is_help=True,
)


reasoner.command("ablation")(ablation_command)


@reasoner.command("eval")
def evaluate_command(
    suite: Annotated[Path | None, typer.Option(help="Missions; default: those that ship with it.")] = None,
    model: Annotated[
        str | None, typer.Option(help="provider:name of a language model; default: the offline planner.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Its endpoint, if it is not the provider's own.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="JSON file for rows and summary.")] = None,
) -> None:
    """Run written missions in a simulated deployment; print accuracy, wrong skills, needless goals and time."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    from openral_core.cli.tables import console
    from openral_core.errors import UsageError
    from openral_reasoner.deployment import Deployment
    from openral_reasoner.evaluation.score import evaluate, report, summary
    from openral_reasoner.evaluation.suite import DEFAULT, load_suite
    from openral_reasoner.llm.factory import agent_maker
    from openral_reasoner.llm.settings import PREFIX

    if out is not None:
        check_file(out, "--out")
    loaded = load_suite(suite or DEFAULT)
    if base_url and not model:
        raise UsageError("--base-url needs --model; without it the offline planner is judged")
    section = {name: value for name, value in (("model", model), ("base_url", base_url)) if value}
    _check_options(section)
    said = {f"{PREFIX}{name.upper()}": value for name, value in section.items()}
    maker = agent_maker(Deployment(), environment={**os.environ, **said}) if model else None
    who, make_agent = maker or ("offline", None)
    with Progress(console=Console(stderr=True, emoji=False), transient=True) as bar:
        task = bar.add_task(f"asking {escape(who)}", total=len(loaded.missions))
        rows = evaluate(loaded, make_agent=make_agent, who=who, progress=lambda row: bar.advance(task))
    if out is not None:  # before anything is printed: who reads the table may close the pipe
        out.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(out, json.dumps(report(rows, who), indent=1) + "\n")
    _print_table(who, list(summary(rows)))
    for row in rows:
        if row.fallback:
            console().print(f"{row.say!r} was left to the offline planner: {row.fallback}", markup=False)
        if row.wrong:
            console().print(
                f"[red]wrong skill[/] {row.kind}: {escape(repr(row.say))} ran {', '.join(row.done) or 'something'}"
            )


def _check_options(section: dict[str, str]) -> None:
    """Raise UsageError where the value of an option cannot name a model or its endpoint; the text names the option."""
    from openral_core.errors import UsageError
    from openral_core.schema import faults_of
    from openral_reasoner.llm.settings import ModelSettings

    forms = {
        "model": "provider:name, such as openai:qwen3-8b with --base-url, or anthropic:<name>",
        "base_url": "the address of the endpoint, such as http://127.0.0.1:8000/v1",
    }
    for fault in faults_of(ModelSettings, dict(section)):
        if given := section.get(fault.key):
            option = f"--{fault.key.replace('_', '-')}"
            raise UsageError(f"{option} '{given}': is not in its form; write {forms[fault.key]}")


def _print_table(who: str, lines: list[dict[str, Any]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from openral_core.cli.tables import console

    table = Table(title=escape(f"planner: {who}"), title_justify="left", box=None, header_style="bold")
    fallbacks = any(line["fallbacks"] for line in lines)
    for name in (
        *("kind", "n", "right", "share", "95 %", "wrong", "needless", "asked", "p50 s"),
        *(["left to offline"] if fallbacks else []),
    ):
        table.add_column(name, justify="left" if name == "kind" else "right", no_wrap=True)
    for line in lines:
        low, high = line["interval"]
        table.add_row(
            str(line["kind"]).replace("_", " "),
            str(line["missions"]),
            str(line["correct"]),
            f"{line['accuracy']:.2f}",
            f"{low:.2f}-{high:.2f}",
            f"{line['wrong_skill_rate']:.2f}",
            str(line["needless_goals"]),
            str(line["asked"]),
            f"{line['seconds_p50']:.3f}",
            *([str(line["fallbacks"])] if fallbacks else []),
        )
    console().print(table)
