"""The command line of `openral benchmark`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from openral_benchmark.run_options import RunOptions, with_run_options
from openral_core.cli import completion

app = typer.Typer(help="Judge a skill on fixed initial states.", no_args_is_help=True)


@app.command()
@with_run_options
def run(
    suite: Annotated[
        str,
        typer.Option(
            "--suite", autocompletion=completion.suites, help="Name or path of a suite, see `list`."
        ),
    ],
    task: Annotated[list[str] | None, typer.Option(help="Only this task; may be given again.")] = None,
    update_manifest: Annotated[
        bool, typer.Option("--update-manifest", help="Write the result into the skill's folder, too.")
    ] = False,
    row: Annotated[
        list[str] | None, typer.Option(help="Of missions: only this row; may be given again.")
    ] = None,
    variant: Annotated[
        list[str] | None, typer.Option(help="Of missions: only this variant; may be given again.")
    ] = None,
    trace: Annotated[bool, typer.Option("--trace", help="Of missions: write the log of each.")] = False,
    *,
    options: RunOptions,
) -> None:
    """Run a suite; print a row a task and write the result with every episode. Exit 1 if none succeeded."""
    from openral_benchmark.evaluate import evaluate
    from openral_benchmark.plan import chosen_scenes
    from openral_core.suite import load_suite

    if options.contract and update_manifest:
        raise typer.BadParameter(
            "--update-manifest is for skills; the policy of a contract is somebody else's"
        )
    loaded = load_suite(suite)
    scenes = chosen_scenes(loaded, task or [])
    if loaded.missions is not None:
        from openral_benchmark.harness.evaluate import evaluate_missions

        if update_manifest:
            raise typer.BadParameter(f"--update-manifest is for policies; {suite} judges whole missions")
        chosen = {"rows": row or [], "variants": variant or []}
        _exit(evaluate_missions(loaded, scenes, options, _command(), trace=trace, **chosen))
        return
    if row or variant or trace:
        raise typer.BadParameter(f"--row, --variant and --trace are for suites of missions; {suite} is none")
    _exit(evaluate(loaded, scenes, options, _command(), update_manifest=update_manifest))


@app.command()
@with_run_options
def scene(
    config: Annotated[
        str,
        typer.Option("--config", autocompletion=completion.scenes, help="Name or path of a benchmark scene."),
    ] = "",
    task: Annotated[
        str, typer.Option(help="Task of a suite that ships instead, such as metaworld/hammer-v3.")
    ] = "",
    *,
    options: RunOptions,
) -> None:
    """Run one task: of a scene's file, or of the first suite that has it. Exit 1 if no episode succeeded."""
    from openral_benchmark.evaluate import evaluate
    from openral_benchmark.plan import chosen_scenes
    from openral_core.scene import BenchmarkScene, load_scene
    from openral_core.suite import alone, suite_with_task

    if bool(config) == bool(task):
        raise typer.BadParameter("name --config or --task")
    suite = alone(load_scene(config, BenchmarkScene)) if config else suite_with_task(task)
    _exit(evaluate(suite, chosen_scenes(suite, [task] if task else []), options, _command()))


@app.command("list")
def list_suites(
    suite: Annotated[
        str,
        typer.Argument(autocompletion=completion.suites, help="Its tasks; default: the suites that ship."),
    ] = "",
) -> None:
    """List the suites that ship with openral, or the tasks of one."""
    from openral_benchmark.tables import print_suites, print_tasks
    from openral_core.cli.progress import console
    from openral_core.files.named_files import names_of
    from openral_core.suite import SUITE_PATTERNS, load_suite

    if suite:
        print_tasks(load_suite(suite), console)
    else:
        print_suites([load_suite(name) for name in names_of(SUITE_PATTERNS)], console)


@app.command()
def count(
    result: Annotated[
        Path,
        typer.Argument(help="result.json, or folder, of a run of missions with the rows home and script."),
    ],
    memory: Annotated[
        Path | None, typer.Option(help="Notes whose counts are added to; default: those of `openral deploy`.")
    ] = None,
) -> None:
    """Count in the reasoner's memory how often the skill, and how often motions, solved each task of a run."""
    from openral_benchmark.compare import read_result
    from openral_benchmark.harness.recovery_counts import count_into
    from openral_core.cli.progress import console
    from openral_core.files.output_folder import check_file
    from openral_reasoner.memory.notes_file import default_memory_file
    from openral_reasoner.memory.outcomes import Outcomes, outcomes_beside

    content = read_result(result, ("eval_config",))
    path = outcomes_beside(check_file(memory or default_memory_file(), "--memory"))
    counted = count_into(Outcomes(path), content)
    console.print(f"{path}: {counted} attempts counted", markup=False, soft_wrap=True)


@app.command()
def report(
    result: Annotated[Path, typer.Argument(help="result.json of a run, or its folder.")],
    out: Annotated[Path | None, typer.Option(help="HTML file; default: beside the result.")] = None,
) -> None:
    """Write a result as one HTML page that needs no network."""
    from openral_benchmark.compare import read_result, result_file
    from openral_benchmark.harness.tables import MissionPageForm, mission_page
    from openral_benchmark.page import PageForm, page
    from openral_core.cli.progress import console
    from openral_core.errors import ManifestError
    from openral_core.files.output_folder import check_file
    from openral_core.schema import faults_of

    content = read_result(result, ("benchmark", "eval_config"))
    file = result_file(result)
    path = check_file(out or file.with_name("report.html"), "--out")
    of_missions = "rows" in content["results"]
    if faults := faults_of(MissionPageForm if of_missions else PageForm, content):
        key, what, _ = faults[0]
        raise ManifestError(
            f"{file}: lacks what a page shows, or has it otherwise ({key} {what}); name the result.json of a run"
        )
    text = mission_page(content) if of_missions else page(content, file.parent)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    console.print(str(path), markup=False, soft_wrap=True)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="result.json of a run, its folder, or an eval JSON.")],
    second: Annotated[Path, typer.Argument(help="The other one.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print numbers for programs.")] = False,
) -> None:
    """Say whether the difference of two runs is real, from the episodes that both ran."""
    from dataclasses import asdict

    from openral_benchmark.compare import compare as compare_results
    from openral_benchmark.compare import read_result
    from openral_core.cli.progress import console
    from openral_core.cli.tables import cell_text

    found = compare_results(read_result(first), read_result(second))
    if as_json:
        console.print_json(json.dumps(asdict(found)))
        return
    a, b = found.successes
    console.print(f"{found.episodes} episodes in common: {a} and {b} solved; {found.words}")
    console.print(f"solved by the first alone: {found.only_first}, by the second alone: {found.only_second}")
    if found.conditions:
        console.print(
            f"[yellow]not under equal conditions[/yellow]: {cell_text('; '.join(found.conditions))}",
            soft_wrap=True,
        )


def _command() -> str:
    return shlex.join(["openral", *sys.argv[1:]])


def _exit(content: dict[str, Any]) -> None:
    """Exit with status 1 if no episode of a result succeeded."""
    if not content["results"]["all_episodes"]["successes"]:
        raise typer.Exit(1)
