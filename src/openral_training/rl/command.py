"""The command `openral train rl`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from openral_core.cli import completion, numbers
from openral_core.cli.progress import WITH_RESUME, console, progress_bar
from openral_core.files.output_folder import check_folder
from openral_training.devices import Device, DeviceOption


def rl_configs(incomplete: str) -> list[str]:
    """Return names of configs that begin so, for the shell's Tab key."""
    from openral_training.rl.config import PATTERNS

    return completion.shipped(PATTERNS, incomplete)


def rl(
    config: Annotated[
        str,
        typer.Option("--config", autocompletion=rl_configs, help="Name of a shipped config, or path of one."),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of the run; default: as the config says.")
    ] = None,
    seed: Annotated[int | None, numbers.seed("In place of actor.seed.")] = None,
    epochs: Annotated[int | None, numbers.count("In place of runner.max_epochs.", "--epochs")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in that folder.")] = False,
    package: Annotated[
        bool, typer.Option("--package", help="Evaluate the result as an rSkill by the ordinary benchmark.")
    ] = False,
    device: DeviceOption = Device.auto,
) -> None:
    """Improve a cloned policy by PPO or GRPO in the simulator; print base and result on held-out states."""
    from openral_training.rl.config import load_config, with_changes

    chosen = with_changes(load_config(config), out=out, seed=seed, epochs=epochs)
    check_folder(chosen.folder, "--out")

    import torch  # which takes seconds, as do the simulators

    from openral_training.data_parallel import require_one_process
    from openral_training.rl.package import check_packable, package_result
    from openral_training.rl.policy_evaluation import IMAGINED
    from openral_training.rl.run import EARLIER, effective_settings, train

    require_one_process("openral train rl", "set cluster.component_placement, which starts its processes")
    torch.set_num_threads(1)  # the networks are small; more threads only get in the simulators' way
    if package:
        check_packable(chosen)
    console.print(effective_settings(chosen), markup=False, highlight=False)
    with progress_bar("learning", chosen.runner.max_epochs, goes_on=WITH_RESUME) as (bar, task):
        result = train(
            chosen,
            resume=resume,
            device=device.value,
            progress_callback=lambda done, note: bar.update(task, completed=done, note=note),
        )
    for name in ("base", "policy"):
        console.print(f"{name:6s} {_line(result[name]['all_episodes'])}")
        for task_name, entry in result[name]["tasks"].items():
            console.print(f"    {task_name}: {_line(entry)}", markup=False)
        if IMAGINED in result[name]:
            console.print(f"    {_gap(result[name][IMAGINED])}")
    console.print(
        f"{chosen.folder}: {result['env_steps']} control steps; metrics.csv, eval/, result.json and report.html",
        markup=False,
        soft_wrap=True,
    )
    for name in result[EARLIER]:
        console.print(
            f"{chosen.folder / name}: is of the weights before; the skill's eval/ no longer has it, --package "
            "judges the present weights",
            markup=False,
            soft_wrap=True,
        )
    if package:
        evaluated = package_result(chosen, shlex.join(["openral", *sys.argv[1:]]))
        rate = f"rSkill {evaluated['provenance']['skill']}: {_line(evaluated['results']['all_episodes'])}"
        console.print(
            f"{chosen.folder / 'policy'}: {rate}, eval/{evaluated['benchmark']['name']}.json",
            markup=False,
            soft_wrap=True,
        )


def _gap(entry: dict[str, Any]) -> str:
    imagined, real, gap = _line(entry["imagined"]), _line(entry["real"]), 100 * entry["optimism_gap"]
    return f"training states: imagined {imagined}, real {real}, optimism gap {gap:+.0f} points"


def _line(entry: dict[str, Any]) -> str:
    low, high = entry["wilson_95"]
    return f"{entry['successes']}/{entry['n_episodes']} ({low:.2f}–{high:.2f})"
