"""Run a suite: check first, then block by block, with nothing lost if it is killed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openral_core.contract import match, require
from openral_core.registry import RSkillPackage
from openral_core.robot import load_robot
from openral_core.scene import BenchmarkScene
from openral_core.suite import Suite
from openral_core.vram import budget, require_budget
from openral_training.benchmark.journal import Journal
from openral_training.benchmark.plan import Settings, identity, plan
from openral_training.benchmark.pool import run_blocks
from openral_training.benchmark.result import result
from openral_training.progress import progress_bar


def execute(
    suite: Suite, package: RSkillPackage, scenes: Sequence[BenchmarkScene], settings: Settings, folder: Path,
    *, workers: int, resume: bool, block_timeout_s: float, command: str,
) -> dict[str, Any]:  # fmt: skip
    """Run a suite, or what is left of it, and return its result.

    Args:
        suite: the suite.
        package: the skill.
        scenes: those of the suite that are to be run.
        settings: how; decides the rows.
        folder: of the run; rows are kept there as they come.
        workers: processes; does not change a row.
        resume: go on with the rows that are there.
        block_timeout_s: [s] wall time after which a block is cut off.
        command: the command line, for the record.

    Raises:
        ContractError: the skill does not fit a scene; one line a failing gate, before anything runs.
        ManifestError: the folder holds rows of another run.
    """
    require_budget(budget([package], settings.device))
    for scene in scenes:
        require(
            match(
                package.manifest, load_robot(scene.robot_id), scene, folder=package.folder, lockstep=True,
                task=scene.task.id, accept_noncommercial=package.accept_noncommercial,
                allow_unevaluated=settings.allow_unevaluated,
            )
        )  # fmt: skip
    blocks = plan(scenes, settings)
    journal = Journal(folder, identity(package, scenes, settings), resume=resume)
    left = [block for block in blocks if block.number not in journal.done]
    total = sum(len(block.jobs) for block in blocks)
    solved = sum(entry.row.success for entry in journal.entries)
    try:
        with progress_bar("episodes", total) as (bar, task):
            bar.update(task, completed=len(journal.entries), note=f"{solved} solved")
            for entries in run_blocks(
                package, settings, left, workers=workers, block_timeout_s=block_timeout_s
            ):
                journal.add(entries)
                solved += sum(entry.row.success for entry in entries)
                name = entries[0].row.task
                bar.update(task, advance=len(entries), note=f"{solved} solved, last {name}")
    finally:
        journal.close()
    return result(suite, package, scenes, settings, journal.entries, blocks, command)
