"""A suite: the benchmark scenes whose mean is one published number."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, JsonValue, model_validator

from openral_core.document import Document, read_document
from openral_core.errors import ManifestError, NotFoundError
from openral_core.named_files import find_file, names_of
from openral_core.scene import BenchmarkScene, load_scene
from openral_core.schema import Fault, InitRange, Many, Schema, raise_faults, validate

SUITE_PATTERNS = ("benchmarks/{}.yaml",)
_ALONE, _WITH_TASK = {"scene"}, {"scene", "task", "instruction"}
"""Keys of an entry."""
_UNIFORM = ("robot_id", "n_episodes", "seed", "control_hz", "action")


class SuiteStates(Schema):
    """A suite that names its own initial states, whatever those of its scenes are."""

    heldout_init_ids: InitRange
    """Skills are judged on these: the `seed` and `n_episodes` of every scene."""
    train_init_ids: InitRange | None = None
    """Skills may be trained on these; none of them is held out. Absent: nothing here is for training."""
    scenes: Many[JsonValue] = Field(min_length=1)
    """See `load_suite`."""

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


def load_suite(path_or_name: str | Path) -> Suite:
    """Load `benchmarks/<name>.yaml`: the names or paths of benchmark scenes, as a list or under `scenes`.

    `{scene: name, task: id, instruction: words}` is that scene with another task, for suites whose tasks differ in
    nothing else. Beside `scenes`, a suite names its initial states (`SuiteStates`); a list takes those of its scenes.

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
    judged = states.heldout_init_ids
    chosen = {"seed": judged.first, "n_episodes": judged.count}
    return Suite(path.stem, tuple(scene.model_copy(update=chosen) for scene in scenes), states.train_init_ids)


def alone(scene: BenchmarkScene) -> Suite:
    """Return a suite of one scene, called after its task."""
    return Suite(scene.task.id.replace("/", "-"), (scene,))


def suite_with_task(task_id: str) -> Suite:
    """Return the first of the suites that ship which has a task, in the order of their names.

    Raises:
        NotFoundError: none has; the text names the suites, whose tasks `load_suite` gives.
    """
    suites = [load_suite(name) for name in names_of(SUITE_PATTERNS)]
    for suite in suites:
        if any(scene.task.id == task_id for scene in suite.scenes):
            return suite
    names = ", ".join(suite.id for suite in suites)
    raise NotFoundError(f"no suite has a task {task_id}; there are {names}")


def _scene(document: Document, index: int, entry: object) -> BenchmarkScene:
    words = {"scene": entry} if isinstance(entry, str) else entry
    if not isinstance(words, dict) or set(words) not in (_ALONE, _WITH_TASK):
        mend = "write the name of a benchmark scene, or {scene: …, task: …, instruction: …}"
        raise ManifestError(document.fault((index,), "is neither a name nor a scene with a task", mend))
    texts = {key: str(value) for key, value in words.items()}
    try:
        scene = load_scene(texts["scene"], BenchmarkScene)
    except NotFoundError as error:
        raise ManifestError(
            document.fault((index,), f"scene '{texts['scene']}' was not found", "mend the name")
        ) from error
    return with_task(scene, texts["task"], texts["instruction"]) if "task" in texts else scene


def with_task(scene: BenchmarkScene, task_id: str, instruction: str) -> BenchmarkScene:
    """Return a scene with another task of its simulator.

    Args:
        scene: keeps everything but its task, max_steps and success_key included.
        task_id: of the new task, such as libero_10/KITCHEN_SCENE3_….
        instruction: the words given to the policy.
    """
    world = scene.scene
    name = task_id.removeprefix(f"{world.backend_options.get('family')}/")
    options = {**world.backend_options, "tasks": [name]}
    return scene.model_copy(
        update={
            "scene": world.model_copy(update={"backend_options": options}),
            "task": scene.task.model_copy(update={"id": task_id, "instruction": instruction}),
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
