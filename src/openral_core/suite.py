"""A suite: the benchmark scenes whose mean is one published number."""

from __future__ import annotations

from dataclasses import dataclass
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
    """A benchmark scene, or that scene with another task."""

    scene: Word
    """Name or path of the benchmark scene."""
    task: Word | None = None
    """Id of the other task, such as metaworld/drawer-close-v3; absent: the scene's own, in its own words."""
    instruction: Word | None = None
    """Words for that task."""
    instructions: Many[Word] = ()
    """Several words for it in place of `instruction`, said in turn, one an episode."""

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
        """The words for its task; none where the scene has its own."""
        return self.instructions or ((self.instruction,) if self.instruction else ())


class MissionTable(Schema):
    """A suite of whole missions: which deployments are compared, in which variants of each state."""

    attempt_steps: Count
    """Control steps after which an attempt of the policy is given up, where a deployment can try something else."""
    rows: Many[Word] = Field(min_length=1)
    """Deployments, by their names in `openral_benchmark.harness.ablations`."""
    variants: Many[Word] = Field(min_length=1)
    """By their names in `openral_benchmark.harness.perturbations`."""
    counts: Word | None = None
    """File of counts of what worked on other states, relative to the suite's; absent: nothing is known before."""


class SuiteStates(Schema):
    """A suite that names its own initial states, whatever those of its scenes are."""

    heldout_init_ids: InitRange
    """Skills are judged on these: the `seed` and `n_episodes` of every scene."""
    train_init_ids: InitRange | None = None
    """Skills may be trained on these; none of them is held out. Absent: nothing here is for training."""
    honest_scope: Word | None = None
    """What the suite's number says, in place of what its scenes say."""
    missions: MissionTable | None = None
    """Whole missions are judged, and not a policy alone."""
    scenes: Many[JsonValue] = Field(min_length=1)
    """Names, paths, or scenes with another task each, as they are written."""

    @model_validator(mode="after")
    def _are_disjoint(self) -> SuiteStates:
        train = self.train_init_ids
        if train is not None and set(train.ids()) & set(self.heldout_init_ids.ids()):
            what = f"{train} overlaps heldout_init_ids {self.heldout_init_ids}"
            raise_faults([Fault("train_init_ids", what, "a state seen in training proves nothing; move one")])
        return self


@dataclass(frozen=True)
class Suite:
    """Scenes in the order of the file."""

    id: str
    """Stem of the file's name, such as metaworld_mt10."""
    scenes: tuple[BenchmarkScene, ...]
    """At least one."""
    train_init_ids: InitRange | None = None
    """Initial states that skills may be trained on; none of them is among those that the scenes begin in."""
    missions: MissionTable | None = None
    """Whole missions are judged; None: a policy alone is."""


def load_suite(path_or_name: str | Path) -> Suite:
    """Load `suites/<name>.yaml`: the names or paths of benchmark scenes, as a list or under `scenes`.

    `{scene: name, task: id, instruction: words}` is that scene with another task (`SuiteEntry`), for suites whose tasks
    differ in nothing else. Beside `scenes`, a suite names its initial states (`SuiteStates`); a list takes those of its
    scenes.

    Raises:
        NotFoundError: no such suite.
        ManifestError: not such a file, or the scenes do not belong together.
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
    """Return a table of missions with the path of its counts as seen from here."""
    if table is None or table.counts is None:
        return table
    counts = folder / table.counts
    if not counts.is_file():
        where, fix = ("missions", "counts"), "name a file beside the suite, or leave counts out"
        raise ManifestError(document.fault(where, f"there is no file {counts}", fix))
    return table.model_copy(update={"counts": str(counts)})


def alone(scene: BenchmarkScene) -> Suite:
    """Return a suite of one scene, called after its task."""
    return Suite(scene.task.id.replace("/", "-"), (scene,))


def suite_with_task(task_id: str) -> Suite:
    """Return the first of the suites of policies that ship which has a task, in the order of their names.

    Raises:
        NotFoundError: none has; the text names the suites, whose tasks `load_suite` gives.
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
        found = SuiteEntry(scene=entry)
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
    """Return a scene with another task of its simulator.

    Args:
        scene: keeps everything but its task, max_steps and success_key included.
        task_id: of the new task, such as libero_10/KITCHEN_SCENE3_….
        words: given to the policy, at least one; several are said in turn, one an episode.
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
    """Refuse scenes that differ in what one number over all of them takes for granted."""
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
