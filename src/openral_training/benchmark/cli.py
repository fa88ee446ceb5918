"""The command line of `openral benchmark`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Judge a skill on fixed initial states.", no_args_is_help=True)


@app.command()
def run(
    rskill: Annotated[str, typer.Option("--rskill", help="Name, reference or folder of a skill.")],
    suite: Annotated[str, typer.Option("--suite", help="Name or path of a suite, see `list`.")],
    n_episodes: Annotated[int, typer.Option(min=0, help="A task; 0: as the suite says.")] = 0,
    task: Annotated[list[str] | None, typer.Option(help="Only this task; may be given again.")] = None,
    workers: Annotated[int, typer.Option(min=0, help="Processes with worlds; 0: one a core.")] = 0,
    num_envs: Annotated[int, typer.Option(min=1, help="Worlds under one batch; changes rows slightly.")] = 8,
    device: Annotated[str, typer.Option(help="Where the policy infers: cpu, cuda.")] = "cpu",
    out: Annotated[Path | None, typer.Option(help="Folder; default: runs/<suite>-<skill>.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the rows that are there.")] = False,
    patience: Annotated[
        float, typer.Option(min=1, help="Seconds of silence after which worlds or policy are cut off.")
    ] = 300.0,
    update_manifest: Annotated[
        bool, typer.Option("--update-manifest", help="Write the result into the skill's eval/ folder, too.")
    ] = False,
    allow_unevaluated: Annotated[
        bool, typer.Option("--allow-unevaluated", help="Run tasks that it was not evaluated on.")
    ] = False,
) -> None:
    """Run a suite; print a row a task and write the result with every episode. Exit 1 if none succeeded."""
    from openral_core.cli.downloads import download_bars
    from openral_core.hub.install import ready
    from openral_core.suite import load_suite
    from openral_training.benchmark.execute import execute
    from openral_training.benchmark.page import page
    from openral_training.benchmark.plan import Settings, chosen_scenes
    from openral_training.benchmark.tables import print_result
    from openral_training.progress import console
    from openral_training.provenance import write_result

    loaded = load_suite(suite)
    scenes = chosen_scenes(loaded, task or [])
    with download_bars(console) as progress:
        package = ready(rskill, progress=progress)
    episodes = n_episodes or scenes[0].n_episodes
    settings = Settings(episodes, min(num_envs, episodes), device, allow_unevaluated)
    folder = out or Path("runs") / f"{loaded.id}-{package.manifest.short_name}"
    command = shlex.join(["openral", *sys.argv[1:]])
    content = execute(
        loaded, package, scenes, settings, folder, workers=workers, resume=resume,
        patience_s=patience, command=command,
    )  # fmt: skip
    write_result(folder / "result.json", content)
    (folder / "report.html").write_text(page(content), encoding="utf-8")
    if update_manifest:
        write_result(package.folder / "eval" / f"{loaded.id}.json", content)
    print_result(content, console)
    console.print(
        f"every episode: {folder / 'result.json'}, as a page: {folder / 'report.html'}", soft_wrap=True
    )
    if not content["results"]["all_episodes"]["successes"]:
        raise typer.Exit(1)


@app.command("list")
def list_suites() -> None:
    """List the suites that ship with openral."""
    from rich.table import Table

    from openral_core.share import share_directory
    from openral_core.suite import load_suite
    from openral_training.progress import console

    table = Table("suite", "tasks", "episodes", "steps", "look", "simulator", box=None, header_style="bold")
    for path in sorted((share_directory() / "benchmarks").glob("*.yaml")):
        loaded = load_suite(path)
        first = loaded.scenes[0]
        table.add_row(
            loaded.id, str(len(loaded.scenes)), str(first.n_episodes), str(first.task.max_steps),
            str(first.scene.backend_options.get("render_profile", "")), first.metadata.simulator or "",
        )  # fmt: skip
    console.print(table)


@app.command()
def report(
    result: Annotated[Path, typer.Argument(help="result.json of a run.")],
    out: Annotated[Path | None, typer.Option(help="HTML file; default: beside the result.")] = None,
) -> None:
    """Write a result as one HTML page that needs no network."""
    from openral_training.benchmark.compare import read_result
    from openral_training.benchmark.page import page
    from openral_training.progress import console

    path = out or result.with_name("report.html")
    path.write_text(page(read_result(result)), encoding="utf-8")
    console.print(str(path), soft_wrap=True)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="result.json of a run, or an eval JSON.")],
    second: Annotated[Path, typer.Argument(help="The other one.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print numbers for programs.")] = False,
) -> None:
    """Say whether the difference of two runs is real, from the episodes that both ran."""
    from dataclasses import asdict

    from openral_training.benchmark.compare import compare as compare_results
    from openral_training.benchmark.compare import read_result
    from openral_training.progress import console

    found = compare_results(read_result(first), read_result(second))
    if as_json:
        console.print_json(json.dumps(asdict(found)))
        return
    a, b = found.successes
    console.print(f"{found.episodes} episodes in common: {a} and {b} solved; {found.words}")
    console.print(f"solved by the first alone: {found.only_first}, by the second alone: {found.only_second}")
