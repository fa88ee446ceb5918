"""The command line of `openral sim`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from openral_core.cli import completion, numbers
from openral_core.cli.tables import cell_text
from openral_rskill.cli.completion import skills

if TYPE_CHECKING:
    from openral_sim_bridge.rollout import EpisodeRow

app = typer.Typer(help="Try a skill in a simulator, in one process and without ROS.", no_args_is_help=True)
console = Console(emoji=False)


@app.callback()
def _group() -> None:
    """Keep `run` a verb of its own."""


@app.command()
def run(
    config: Annotated[
        str, typer.Option("--config", autocompletion=completion.scenes, help="Name or path of a scene.")
    ] = "metaworld_drawer",
    rskill: Annotated[
        str, typer.Option("--rskill", autocompletion=skills, help="Name, reference or folder of a skill.")
    ] = "mini-metaworld",
    task: Annotated[str, typer.Option(help="Task of the scene; default: its first.")] = "",
    instruction: Annotated[
        str, typer.Option(help="Words for the policy; default: the skill's own example.")
    ] = "",
    n_episodes: Annotated[int, numbers.count("Of successive initial states.", "--n-episodes")] = 1,
    init_id: Annotated[int, numbers.initial_state("First initial state; default: the scene's.")] = -1,
    max_steps: Annotated[
        int,
        numbers.steps("Control steps an episode may take; default: as the scene says, else 500.", least=0),
    ] = 0,
    device: Annotated[str, typer.Option(help="Where the policy infers: cpu, cuda.")] = "cpu",
    save_dir: Annotated[Path | None, typer.Option(help="Default: runs/<time>-sim.")] = None,
    save_video: Annotated[bool, typer.Option("--save-video/--no-save-video")] = True,
    allow_unevaluated: Annotated[
        bool, typer.Option("--allow-unevaluated", help="Run it on a task it was not evaluated on.")
    ] = False,
) -> None:
    """Run episodes and print a row for each; exit 1 if none succeeded."""
    from openral_benchmark import single_run as sim
    from openral_core.cli.downloads import download_bars
    from openral_core.files.output_folder import check_folder
    from openral_core.scene import load_scene
    from openral_rskill.compatibility import require_policy
    from openral_rskill.hub.install import ready

    scene = load_scene(config)
    with download_bars(console) as progress:
        package = ready(rskill, progress=progress)
    require_policy(package.manifest)
    tasks = scene.scene.backend_options.get("tasks")
    chosen = task or (str(tasks[0]) if isinstance(tasks, list) else "")
    words = instruction or sim.default_instruction(package, scene, chosen)
    first = init_id if init_id >= 0 else sim.first_state(scene)
    horizon = max_steps or sim.episode_steps(scene)
    out = save_dir or sim.run_folder(Path("runs"), "sim")
    # What was allowed by hand is always recorded.
    writes = save_video or save_dir is not None or allow_unevaluated
    if writes:
        check_folder(out, "--save-dir")
    plan = sim.SimRun(
        chosen,
        words,
        first,
        n_episodes,
        horizon,
        num_envs=4,
        device=device,
        allow_unevaluated=allow_unevaluated,
    )
    with console.status(cell_text(f"{package.manifest.short_name}: {words}")):
        rows = sim.simulate(package, scene, plan, videos=out if save_video else None)
    solved = _show(rows, scene.dt)
    if writes:
        file = sim.write_result(out, package, scene, plan, rows)
        console.print(f"result: {file}", markup=False, soft_wrap=True)
    if save_video:
        console.print(f"films: {out}", markup=False, soft_wrap=True)
    if solved == 0:
        raise typer.Exit(1)


def _show(rows: Sequence[EpisodeRow], dt: float) -> int:
    """Print a row for each episode, whose control steps are `dt` [s] apart, and return how many succeeded."""
    from openral_core.statistics import wilson_interval

    table = Table(
        "task", "state", "words", "success", "steps", "sim s", "infer\nms", box=None, pad_edge=False
    )
    for row in rows:
        table.add_row(
            cell_text(row.task),
            str(row.init_id),
            cell_text(row.instruction),
            "yes" if row.success else "no",
            str(row.steps),
            f"{row.steps * dt:.2f}",
            f"{row.latency_p50_ms:.0f}/{row.latency_p95_ms:.0f}",
        )
    console.print(table)
    solved = sum(row.success for row in rows)
    low, high = wilson_interval(solved, len(rows))
    console.print(f"{solved} of {len(rows)} succeeded (95 % interval {low:.2f} to {high:.2f})")
    return solved
