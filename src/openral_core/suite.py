"""Suites: sets of benchmark scenes whose mean success rate is the result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import Field, JsonValue, model_validator

from openral_core.errors import ManifestError, NotFoundError
from openral_core.files.named_files import find_file, names_of
from openral_core.files.yaml_document import Document, read_document
from openral_core.scene import BenchmarkScene, load_scene
from openral_core.schema import Count, Fault, InitRange, Many, Schema, Word, raise_faults, validate

SUITE_PATTERNS = ("suites/{}.yaml",)
_UNIFORM = ("robot_id", "n_episodes", "seed", "control_hz", "action")


class SuiteEntry(Schema):
    """A benchmark scene, with its own task or with another one."""

    scene: Word
    """Name or path of the benchmark scene."""
    task: Word | None = None
    """Id of the other task, such as metaworld/drawer-close-v3; absent: the scene's task with its instructions."""
    instruction: Word | None = None
    """Instruction of the other task."""
    instructions: Many[Word] = ()
    """Several instructions in place of `instruction`, of which each episode gets the next one in turn."""

    @model_validator(mode="after")
    def _has_words_for_its_task(self) -> SuiteEntry:
        given = (self.instruction is not None) + bool(self.instructions)
        if given != (self.task is not None):
            what = "has no words, or two kinds of them" if self.task else "has words without a task"
            fix = "write {scene: …, task: …, instruction: …}, or instructions: [… , …]"
            raise_faults([Fault("task", what, fix)])
        return self

    @property
    def words(self) -> tuple[str, ...]:
        """Instructions of the other task; empty: the scene's task is used."""
        return self.instructions or ((self.instruction,) if self.instruction else ())


class MissionTable(Schema):
    """The compared deployments, and the variants of each initial state, of a suite of whole missions."""

    attempt_steps: Count
    """Control steps after which an attempt of the policy is given up, if the deployment has an alternative."""
    rows: Many[Word] = Field(min_length=1)
    """Names of deployments in `openral_benchmark.harness.ablations`."""
    variants: Many[Word] = Field(min_length=1)
    """Names of variants in `openral_benchmark.harness.perturbations`."""
    counts: Word | None = None
    """File with counts of successes on other states, relative to the suite's file; absent: no prior counts."""


class SuiteStates(Schema):
    """A suite with its own initial states, which replace those of its scenes."""

    heldout_init_ids: InitRange
    """States for the evaluation of skills, which become `seed` and `n_episodes` of every scene."""
    train_init_ids: InitRange | None = None
    """States for the training of skills, disjoint from the held-out ones; absent: none."""
    honest_scope: Word | None = None
    """Scope of the suite's result, in place of that of its scenes."""
    missions: MissionTable | None = None
    """Table of whole missions; absent: a policy alone is evaluated."""
    scenes: Many[JsonValue] = Field(min_length=1)
    """Entries as written: names, paths, or scenes with another task (`SuiteEntry`)."""

    @model_validator(mode="after")
    def _are_disjoint(self) -> SuiteStates:
        train = self.train_init_ids
        if train is not None and train.overlaps(self.heldout_init_ids):
            what = f"{train} overlaps heldout_init_ids {self.heldout_init_ids}"
            raise_faults([Fault("train_init_ids", what, "a state seen in training proves nothing; move one")])
        return self


@dataclass(frozen=True)
class Suite:
    """A loaded suite."""

    id: str
    """Stem of the file's name, such as metaworld_mt10."""
    scenes: tuple[BenchmarkScene, ...]
    """Scenes in the order of the file, at least one."""
    train_init_ids: InitRange | None = None
    """Initial states for training, disjoint from those of the scenes."""
    missions: MissionTable | None = None
    """Table of whole missions; None: a policy alone is evaluated."""


def load_suite(path_or_name: str | Path) -> Suite:
    """Load `suites/<name>.yaml`: the names or paths of benchmark scenes, as a list or under `scenes`.

    An entry `{scene: name, task: id, instruction: words}` is that scene with another task (`SuiteEntry`), for suites
    whose scenes differ in the task only. With `scenes`, a suite states its initial states (`SuiteStates`); a list has
    those of its scenes.

    Raises:
        NotFoundError: no such suite.
        ManifestError: the file is invalid, or its scenes have different protocols.
    """
    path = find_file(path_or_name, "suite", SUITE_PATTERNS)
    document = read_document(path)
    states = validate(SuiteStates, document) if isinstance(document.data, dict) else None
    listed = document if states is None else document.section("scenes")
    refs = listed.data
    if not isinstance(refs, list) or not refs:
        raise ManifestError(document.fault((), "is not a list", "write `- name of a benchmark scene` lines"))
    scenes = tuple(_scene(listed, index, ref) for index, ref in enumerate(refs))
    _check_uniform(listed, scenes)
    if states is None:
        return Suite(path.stem, scenes)
    missions = _missions(document, states.missions, path.parent)
    judged = states.heldout_init_ids
    chosen: dict[str, object] = {"seed": judged.first, "n_episodes": judged.count}
    if states.honest_scope is not None:
        chosen["metadata"] = scenes[0].metadata.model_copy(update={"honest_scope": states.honest_scope})
    judged_scenes = tuple(scene.model_copy(update=chosen) for scene in scenes)
    return Suite(path.stem, judged_scenes, states.train_init_ids, missions)


def _missions(document: Document, table: MissionTable | None, folder: Path) -> MissionTable | None:
    """Return a table of missions with the path of its counts relative to the working directory or absolute."""
    if table is None or table.counts is None:
        return table
    counts = folder / table.counts
    if not counts.is_file():
        where, fix = ("missions", "counts"), "name a file beside the suite, or leave counts out"
        raise ManifestError(document.fault(where, f"there is no file {counts}", fix))
    return table.model_copy(update={"counts": str(counts)})


def alone(scene: BenchmarkScene) -> Suite:
    """Return a suite of one scene, whose id is derived from its task."""
    return Suite(scene.task.id.replace("/", "-"), (scene,))


def suite_with_task(task_id: str) -> Suite:
    """Return the first known suite, by name, that has a task and does not evaluate missions.

    Raises:
        NotFoundError: there is none; the text lists these suites.
    """
    suites = [suite for name in names_of(SUITE_PATTERNS) if not (suite := load_suite(name)).missions]
    for suite in suites:
        if any(scene.task.id == task_id for scene in suite.scenes):
            return suite
    names = ", ".join(suite.id for suite in suites)
    raise NotFoundError(f"no suite has a task {task_id}; there are {names}")


def _scene(document: Document, index: int, entry: object) -> BenchmarkScene:
    if isinstance(entry, dict):
        found = validate(SuiteEntry, document.section(index))
    elif isinstance(entry, str):
        found = validate(SuiteEntry, replace(document.section(index), data={"scene": entry}))
    else:
        fix = "write the name of a benchmark scene, or {scene: …, task: …, instruction: …}"
        raise ManifestError(document.fault((index,), "is neither a name nor a scene with a task", fix))
    try:
        scene = load_scene(found.scene, BenchmarkScene)
    except NotFoundError as error:
        raise ManifestError(
            document.fault((index,), f"scene '{found.scene}' was not found", "fix the name")
        ) from error
    return with_task(scene, found.task, *found.words) if found.task else scene


def with_task(scene: BenchmarkScene, task_id: str, *words: str) -> BenchmarkScene:
    """Return a copy of a scene with another task of its simulator.

    Args:
        scene: everything else is kept, including max_steps and success_key of its task.
        task_id: of the new task, such as libero_10/KITCHEN_SCENE3_….
        words: one or several instructions, of which each episode gets the next one in turn.
    """
    world = scene.scene
    name = task_id.removeprefix(f"{world.backend_options.get('family')}/")
    options = {**world.backend_options, "tasks": [name]}
    return scene.model_copy(
        update={
            "scene": world.model_copy(update={"backend_options": options}),
            "task": scene.task.model_copy(
                update={
                    "id": task_id,
                    "instruction": words[0],
                    "instructions": words if len(words) > 1 else (),
                }
            ),
        }
    )


def _check_uniform(document: Document, scenes: tuple[BenchmarkScene, ...]) -> None:
    """Raise ManifestError if scenes differ in the protocol, so that their mean is meaningless, or repeat a task."""
    seen: set[str] = set()
    for index, scene in enumerate(scenes):
        for name in _UNIFORM:
            if getattr(scene, name) != getattr(scenes[0], name):
                what = f"{name} differs from the first scene's"
                raise ManifestError(
                    document.fault((index,), what, "one suite has one protocol; make them equal")
                )
        if scene.task.id in seen:
            raise ManifestError(document.fault((index,), f"task {scene.task.id} is there twice", "keep one"))
        seen.add(scene.task.id)
