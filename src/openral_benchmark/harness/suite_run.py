"""Runs a suite of missions.

Every variant of an initial state runs in every row before the next state begins, so that an interrupted run has about
the same number of episodes in every cell of the table.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass
from multiprocessing.util import Finalize
from pathlib import Path
from types import NoneType
from typing import Any

from openral_benchmark.harness.ablations import ROWS
from openral_benchmark.harness.mission_harness import MissionHarness
from openral_benchmark.harness.perturbations import VARIANTS
from openral_benchmark.harness.shared_resources import SharedParts
from openral_benchmark.plan import simulator_task
from openral_benchmark.row_log import FILE_NAME, RowLog
from openral_benchmark.run_identity import RunIdentity, run_identity
from openral_benchmark.workers.policy_host import reason
from openral_benchmark.workers.worker_pool import worker_pool
from openral_core.cli.progress import console
from openral_core.errors import ManifestError, NotFoundError
from openral_core.files.output_folder import make_private
from openral_core.manifest import MANIFEST_NAME
from openral_core.mission_record import STEPS_FILE, RecordedStep
from openral_core.scene import BenchmarkScene
from openral_core.suite import Suite
from openral_reasoner.mission.mission import LogEntry
from openral_rskill.registry import RSkillPackage, load_package, resolve
from openral_rskill.store.lockfile import sha256_of
from openral_rskill.store.skill_files import CALIBRATION_NAME
from openral_rskill.weights_hash import weights_sha256
from openral_sim_bridge.backends.environments import build_environments, environment_digests
from openral_sim_bridge.backends.fingerprint import fingerprint


@dataclass(frozen=True)
class MissionJob:
    """The episodes of one task from one initial state in one variant, one for each row."""

    scene: BenchmarkScene
    init_id: int
    variant: str
    rows: tuple[str, ...]


@dataclass(frozen=True)
class MissionSetting:
    """What decides the rows of the result besides the jobs, and where traces are written."""

    skill: Path
    """Folder of the policy."""
    attempt_steps: int
    device: str
    allow_unevaluated: bool
    counts: Path | None
    """File of counts for rows with `counts`; None: there is none."""
    traces: Path | None
    """Folder for one `mission.jsonl` an episode; None: none is written. It changes no row."""


def chosen(names: Sequence[str], wanted: Sequence[str], what: str) -> tuple[str, ...]:
    """Return those names of a suite that are wanted, in the suite's order; all of them if `wanted` is empty.

    Raises:
        NotFoundError: the suite does not have a wanted name; `what` names its kind in the text.
    """
    if unknown := [name for name in wanted if name not in names]:
        raise NotFoundError(f"the suite has no {what} {', '.join(unknown)}; it has {', '.join(names)}")
    return tuple(name for name in names if not wanted or name in wanted)


def plan_missions(
    suite: Suite,
    scenes: Sequence[BenchmarkScene],
    rows: Sequence[str],
    variants: Sequence[str],
    episodes: int,
) -> list[MissionJob]:
    """Return the jobs, ordered by initial state, then by task, then by variant.

    Raises:
        ManifestError: the suite names a row or a variant that does not exist.
        NotFoundError: none of the variants is for any of the tasks.
    """
    assert suite.missions is not None, "only suites of missions are planned here"
    for names, known, what in (
        (suite.missions.rows, ROWS, "row"),
        (suite.missions.variants, VARIANTS, "variant"),
    ):
        if unknown := [name for name in names if name not in known]:
            raise ManifestError(f"{suite.id}: there is no {what} {unknown[0]}; there are {', '.join(known)}")
    tasks = {scene.task.id: simulator_task(scene) for scene in scenes}
    jobs = [
        MissionJob(scene, scene.seed + episode, name, tuple(rows))
        for episode in range(episodes)
        for scene in scenes
        for name in variants
        if VARIANTS[name].is_for(tasks[scene.task.id])
    ]
    if not jobs:
        others = [name for name in suite.missions.variants if any(map(VARIANTS[name].is_for, tasks.values()))]
        raise NotFoundError(
            f"{suite.id}: {', '.join(tasks)} has no variant {', '.join(variants)}; it has {', '.join(others)}"
        )
    return jobs


def run_missions(
    jobs: Sequence[MissionJob],
    setting: MissionSetting,
    folder: Path,
    *,
    suite: Suite,
    workers: int,
    resume: bool,
) -> Iterator[list[dict[str, Any]]]:
    """Run the jobs and yield their rows, job by job as they finish; with `resume` the rows of the file come first.

    Args:
        jobs: to be run.
        setting: how they are run; with the jobs it decides every row.
        folder: of the run; rows are appended there to `rows.jsonl`.
        suite: of the jobs, which may be a part of it.
        workers: number of processes; it changes only `wall_s` in the rows.
        resume: whether to continue the run whose rows are in the folder.

    Raises:
        ManifestError: the folder holds rows of another run, or holds rows and `resume` is False; or another process
            writes them.
        OpenralError: something does not fit or cannot be loaded.
    """
    build_environments(suite.scenes, console.print)
    with contextlib.closing(_MissionLog(folder, mission_identity(suite, setting), resume=resume)) as kept:
        wanted = {(row, job.variant, job.scene.task.id, job.init_id) for job in jobs for row in job.rows}
        if there := [row for row in kept.rows if _key(row) in wanted]:
            yield there
        left = [job for job in jobs if kept.left(job)]
        if workers == 1 or len(left) < 2:
            try:
                for job in left:
                    rows = _run_job(job, setting, kept.left(job))
                    kept.add(rows)
                    yield rows
            finally:
                _close_all()
            return
        with worker_pool(workers) as pool:
            futures = [pool.submit(_run_job, job, setting, kept.left(job)) for job in left]
            for future in as_completed(futures):
                kept.add(future.result())
                yield future.result()


_shared: list[SharedParts] = []
"""Models and worlds of this process, for all tasks; at most one entry, made with the first job."""
_loaded: dict[str, MissionHarness] = {}
"""Harnesses of this process, by task id."""


def _run_job(job: MissionJob, setting: MissionSetting, left: Sequence[str]) -> list[dict[str, Any]]:
    """Run a job in the rows `left`; an episode that cannot be run counts as a failure, with the reason in `error`.

    The next one gets a new world then, since a simulator that failed may go on to do so.
    """
    harness = _loaded.get(job.scene.task.id)
    if harness is None:
        if not _shared:
            _shared.append(SharedParts(setting.device))
            # A pool's workers run multiprocessing's finalizers at their end, but not `atexit`. Worlds that are still
            # open at that point would be freed after OpenGL, which prints an error for each of them.
            Finalize(None, _close_all, exitpriority=10)
        harness = _loaded[job.scene.task.id] = MissionHarness(
            job.scene,
            load_package(setting.skill),
            attempt_steps=setting.attempt_steps,
            shared=_shared[0],
            counts=setting.counts,
            allow_unevaluated=setting.allow_unevaluated,
        )
    rows = []
    for row in left:
        try:
            fields, log = harness.run(row, job.variant, job.init_id)
        except Exception as error:  # noqa: BLE001  a simulator may raise anything; the row has the reason
            rows.append(_lost(job, row, reason(error)))
            _shared[0].close_worlds()
            continue
        rows.append({**fields, "error": ""})
        if setting.traces is not None:
            name = f"{row}-{job.variant}-{job.scene.task.id.replace('/', '-')}-{job.init_id}"
            _write_trace(setting.traces / name, log)
    return rows


def _lost(job: MissionJob, row: str, error: str) -> dict[str, Any]:
    return {
        "row": row,
        "variant": job.variant,
        "task": job.scene.task.id,
        "init_id": job.init_id,
        "instruction": job.scene.task.instruction,
        "truth": list(ROWS[row].deployed_in(job.scene).truth),
        "success": False,
        "steps": 0,
        "used_steps": 0,
        "claimed_step": None,
        "true_at_claim": False,
        "error": error,
    }


def _close_all() -> None:
    for parts in _shared:
        parts.close()
    _shared.clear()
    _loaded.clear()


def _write_trace(folder: Path, log: Sequence[LogEntry]) -> None:
    """Write the log as a deployment writes its `mission.jsonl`, without the wall time."""
    make_private(folder)
    lines = [RecordedStep(**asdict(entry), wall_time=0.0).model_dump_json() for entry in log]
    (folder / STEPS_FILE).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def counts_sha256(counts: Path | None) -> str | None:
    """Return the SHA-256 of a file of counts, or None if there is no file."""
    return hashlib.sha256(counts.read_bytes()).hexdigest() if counts else None


_NO_PART = {"seed", "n_episodes", "metadata"}
"""Keys of a scene that decide no row; a row names its initial state."""


def mission_identity(suite: Suite, setting: MissionSetting) -> RunIdentity:
    """Return the identity of a run: what decides a row besides its row, variant, task and initial state.

    It has all scenes of the suite, so that a run may be gone on with for other tasks.
    """
    beside = {each.folder: each for scene in suite.scenes for each in other_skills(scene)}
    return run_identity(
        load_package(setting.skill),
        attempt_steps=setting.attempt_steps,
        counts=counts_sha256(setting.counts),
        device=setting.device,
        scenes=[scene.model_dump(mode="json", exclude=_NO_PART) for scene in suite.scenes],
        worlds=[fingerprint(scene) for scene in suite.scenes],
        **environment_digests(suite.scenes, here=True),
        beside=[_digests(each) for each in beside.values()],
    )


def _digests(package: RSkillPackage) -> list[str | None]:
    """Return the hashes of a skill's manifest, its calibration and its weights; None for what it has not."""
    files = [package.folder / name for name in (MANIFEST_NAME, CALIBRATION_NAME)]
    weights = weights_sha256(package) if package.manifest.weights_uri is not None else None
    return [*(sha256_of(path) if path.is_file() else None for path in files), weights]


_FIELDS: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("row", "variant", "task", "error"), str),
    "init_id": int,
    "truth": list,
    **dict.fromkeys(("success", "true_at_claim"), bool),
    "claimed_step": (int, NoneType),
}
"""Fields of a row that the result is made from, with their types."""


class _MissionLog:
    """Appends the rows of jobs to the run's `RowLog`."""

    def __init__(self, folder: Path, identity: RunIdentity, *, resume: bool) -> None:
        self.rows: list[dict[str, Any]] = []
        self._path = folder / FILE_NAME
        self._log = RowLog(folder, identity, resume=resume, whole=self._read)
        self._done = {_key(row) for row in self.rows}

    def left(self, job: MissionJob) -> list[str]:
        """Return the names of the rows in which a job is still to be run."""
        task = job.scene.task.id
        return [row for row in job.rows if (row, job.variant, task, job.init_id) not in self._done]

    def add(self, rows: Sequence[dict[str, Any]]) -> None:
        """Append rows."""
        self._log.add(rows)

    def close(self) -> None:
        """Close the log; called once."""
        self._log.close()

    def _read(self, lines: list[str]) -> int:
        for number, line in enumerate(lines, 2):  # the first says whose rows they are
            row = json.loads(line)
            wrong = [
                name
                for name, kind in _FIELDS.items()
                if not isinstance(row, dict) or name not in row or not isinstance(row[name], kind)
            ]
            if wrong:
                raise ManifestError(
                    f"{self._path}:{number}: is no row of a run ({wrong[0]}); copy the file back, or name another --out"
                )
            self.rows.append(row)
        return len(lines)


def _key(row: dict[str, Any]) -> tuple[str, str, str, int]:
    return row["row"], row["variant"], row["task"], row["init_id"]


def other_skills(scene: BenchmarkScene) -> list[RSkillPackage]:
    """Return the skills of a scene that are deployed beside the policy: reward model, detector and motions."""
    named = [scene.reward_skill, scene.detector_skill, *scene.motions]
    return [resolve(reference) for reference in named if reference]
