"""Evaluate one skill on one suite, from the options of a command to the files of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openral_benchmark.execute import execute
from openral_benchmark.execution_config import ExecutionConfig
from openral_benchmark.page import page
from openral_benchmark.plan import Settings
from openral_benchmark.record_in_manifest import record_result
from openral_benchmark.run_options import RunOptions
from openral_benchmark.served_policy_contract import served_skill, server_says
from openral_benchmark.tables import print_result
from openral_core.cli.downloads import download_bars
from openral_core.cli.progress import console
from openral_core.errors import ContractError
from openral_core.files.output_folder import check_folder
from openral_core.manifest import RSkillManifest
from openral_core.scene import BenchmarkScene
from openral_core.suite import Suite
from openral_data.datasets.listing import refuse_dataset
from openral_rskill.checks.finding import Finding
from openral_rskill.checks.unseen_states import unseen_states
from openral_rskill.compatibility import require, require_policy
from openral_rskill.hub.install import ready
from openral_rskill.measured_results import keep_result
from openral_rskill.registry import RSkillPackage
from openral_rskill.result_provenance import write_result


def evaluate(
    suite: Suite,
    scenes: Sequence[BenchmarkScene],
    options: RunOptions,
    command: str,
    *,
    update_manifest: bool = False,
) -> dict[str, Any]:
    """Run scenes of a suite, print the result, write `result.json` and `report.html`; return the result.

    Args:
        suite: the suite.
        scenes: those of it that are to be run.
        options: which policy, and how; already checked.
        command: the command line, for the provenance.
        update_manifest: also write the result into the skill's folder, which must not have one of this suite yet.

    Raises:
        OpenralError: the folder cannot be written, a measured result would be overwritten, or the skill is not there,
            does not fit, was trained on the suite's states, or cannot be loaded; or, after the files were written, the
            result is not for the skill's folder, since episodes have none.
    """
    package, folder = _skill(suite, options)
    if update_manifest:
        keep_result(package.folder / "eval" / f"{suite.id}.json")
    episodes = options.n_episodes or scenes[0].n_episodes
    require(
        [unseen_states(package.manifest, scene, range(scene.seed, scene.seed + episodes)) for scene in scenes]
    )
    settings = Settings(
        episodes,
        min(options.num_envs, episodes),
        options.device,
        options.allow_unevaluated,
        options.answer_delay,
        options.picture_delay,
    )
    require([_chunk_outlasts(package.manifest, options.answer_delay)])
    server = server_says(package)
    content = execute(
        suite,
        package,
        scenes,
        settings,
        folder,
        execution=ExecutionConfig(options.workers, options.policies, options.cluster, options.patience),
        resume=options.resume,
        command=command,
        videos=options.videos,
    )
    if server is not None:
        content["provenance"]["server"] = server
    write_result(folder / "result.json", content)
    (folder / "report.html").write_text(page(content, folder), encoding="utf-8")
    print_result(content, console)
    _print_written(folder / "result.json", folder / "report.html")
    if update_manifest:
        _require_results(content, package)
        _print_written(*record_result(package, content))
    return content


def _require_results(content: dict[str, Any], package: RSkillPackage) -> None:
    """Raise ContractError if episodes have no result: they count as failures, so that the rate would be too low."""
    rows = content["results"]["episodes"]
    if lost := [row for row in rows if row["error"]]:
        raise ContractError(
            f"--update-manifest: {len(lost)} of {len(rows)} episodes have no result ({lost[0]['error']}), so nothing "
            f"is written into {package.folder}; mend that, and run all of them again into another --out"
        )


def _print_written(*paths: Path) -> None:
    for path in paths:
        console.print(f"wrote {path}", markup=False, soft_wrap=True)


def _chunk_outlasts(manifest: RSkillManifest, answer_delay: int) -> Finding:
    """Check that a chunk has steps left when it is executed `answer_delay` frames after its observation."""
    frame = manifest.replay_steps
    needed = (answer_delay + 1) * frame
    found = f"chunks of {manifest.chunk_size} steps, {frame} a frame"
    fix = f"give at most --answer-delay {manifest.chunk_size // frame - 1}"
    return Finding.of("delay", needed <= manifest.chunk_size, found, f"at least {needed}", fix)


def _skill(suite: Suite, options: RunOptions) -> tuple[RSkillPackage, Path]:
    """Return the skill and the folder of the run."""
    if options.contract:
        folder = _folder(options.out, suite, Path(options.contract).stem)
        return served_skill(options.contract, options.policy_url, folder), folder
    with download_bars(console) as progress:
        package = ready(options.rskill, progress=progress)
    require_policy(package.manifest)
    return package, _folder(options.out, suite, package.manifest.short_name)


def _folder(out: Path | None, suite: Suite, name: str) -> Path:
    """Return the folder of the run, which can be written."""
    folder = check_folder(out or Path("runs") / f"{suite.id}-{name}", "--out")
    refuse_dataset(folder, "--out")
    return folder
