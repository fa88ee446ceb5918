"""Scenes: a world with a robot in it, in three tiers, each one an extension of the last.

deploy: what is there. sim: a task in it, and how often to try. benchmark: a task under a published protocol.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, TypeVar, overload

from pydantic import Field, JsonValue, PrivateAttr, StringConstraints, model_validator

from openral_core.errors import ManifestError, NotFoundError
from openral_core.files.named_files import find_files, name_of
from openral_core.files.yaml_document import Document, read_document
from openral_core.manifest import MANIFEST_NAME
from openral_core.manifest.contracts import Box
from openral_core.robot import robot_file
from openral_core.scene_arm import SceneArm
from openral_core.scene_parts import SceneAction, SceneCamera, SceneWorld
from openral_core.schema import Count, Fault, Many, Positive, Schema, Vector3, Word, raise_faults, validate

__all__ = [
    "BenchmarkScene",
    "DeployScene",
    "Protocol",
    "Resume",
    "SceneAction",
    "SceneCamera",
    "SceneTask",
    "SceneWorld",
    "SimScene",
    "load_scene",
    "scene_of",
]

Resume = Literal["ask", "always", "never"]
SceneT = TypeVar("SceneT", bound="DeployScene")
SCENE_PATTERNS = (
    "scenes/deploy/{}.yaml",
    "scenes/robot/{}.yaml",
    "scenes/sim/{}.yaml",
    "scenes/benchmarks/{}.yaml",
)


class DeployScene(Schema):
    """A world with a robot in it, and the skills that are to run there."""

    scene: SceneWorld
    """The world and its cameras."""
    robot_id: Word
    """Name or path of the robot's description."""
    control_hz: Positive
    """[Hz] rate at which the bridge executes actions."""
    action: SceneAction
    """The actions it takes."""
    workspace: Box | None = None
    """[m] box in the world frame that the hand is not led out of, nor further out of; needed for `delta_ee_*`."""
    skills: Many[Word] = ()
    """References of the skills to deploy."""
    arm: SceneArm | None = None
    """The real arm, for the robot bridge; a simulator does not look at it."""
    home: Vector3 | None = None
    """[m] where the hand goes when it is sent home, in the world frame; absent: nobody can send it there."""
    motions: Many[Word] = ()
    """References of the motions (kind ros_action) that one node offers beside the skills."""
    reward_skill: Word | None = None
    """Reference of the reward skill that watches."""
    detector_skill: Word | None = None
    """Reference of the detector (kind detector) by which things are found from words; absent: pixels only."""
    mission: Word | None = None
    """The sentence that starts it, if the operator says nothing else."""
    resume: Resume = "ask"
    """What the reasoner does, started again after a crash, about the mission that was in work: ask the operator, always
    go on, or never."""
    playbooks: Many[Word] = ()
    """References of the written procedures (kind playbook) that the reasoner may follow."""
    reasoner: dict[str, JsonValue] = Field(default_factory=dict)
    """The language model that plans, see `openral_reasoner.llm.settings`; absent: the offline planner."""
    _source: Document | None = PrivateAttr(default=None)

    @property
    def source(self) -> Document | None:
        """The file that it was read from, beside which its model lies; None where code made the scene."""
        return self._source

    @property
    def reference(self) -> str:
        """What a command takes for it: its name, or the path of its file; its id where code made the scene."""
        if self._source is None:
            return self.scene.id
        return name_of(self._source.path, SCENE_PATTERNS) or str(self._source.path)

    @model_validator(mode="after")
    def _rates_fit(self) -> DeployScene:
        faults = []
        for index, camera in enumerate(self.scene.cameras):
            ratio = self.control_hz / camera.rate_hz
            if ratio < 0.999 or abs(ratio - round(ratio)) > 1e-6 * ratio:
                what = f"{camera.rate_hz:g} Hz does not divide control_hz {self.control_hz:g}"
                faults.append(Fault(f"scene.cameras.{index}.rate_hz", what, "choose a divisor"))
        if self.action.representation.startswith("delta_ee") and self.workspace is None:
            faults.append(
                Fault("workspace", f"is missing for {self.action.representation}", "add low and high [m]")
            )
        raise_faults(faults + self._home_faults() + self._arm_faults())
        return self

    def _home_faults(self) -> list[Fault]:
        """Return what is wrong with where the hand is sent home to: the envelope lets it into the workspace only."""
        if self.home is None or self.workspace is None:
            return []
        box = zip("xyz", self.home, self.workspace.low, self.workspace.high, strict=True)
        outside = [(name, at, low, high) for name, at, low, high in box if not low <= at <= high]
        if not outside:
            return []
        found = ", ".join(f"{name} = {at:g} m" for name, at, _, _ in outside)
        fix = ", ".join(f"{low:g} to {high:g} m for {name}" for name, _, low, high in outside)
        return [Fault("home", f"{found} is outside the workspace", f"write {fix}, or widen workspace")]

    def _arm_faults(self) -> list[Fault]:
        """Return what is wrong with the cameras of the real arm, and with how their pictures are paired."""
        if self.arm is None:
            return []
        known = {camera.name for camera in self.scene.cameras}
        faults = [
            Fault(
                f"arm.cameras.{name}", "is no camera of the scene", f"name one of {', '.join(sorted(known))}"
            )
            for name in self.arm.cameras
            if name not in known
        ]
        slowest_hz = min(self.control_hz, *(camera.rate_hz for camera in self.scene.cameras))
        if self.arm.pairing_s < 0.5 / slowest_hz:
            what = f"{self.arm.pairing_s:g} s is less than half a period of {slowest_hz:g} Hz, so that little pairs"
            faults.append(Fault("arm.pairing_s", what, f"write at least {0.5 / slowest_hz:g}"))
        return faults

    @property
    def dt(self) -> float:
        """[s] one control step."""
        return 1.0 / self.control_hz

    @property
    def cameras(self) -> tuple[SceneCamera, ...]:
        """The scene's cameras."""
        return self.scene.cameras

    @property
    def init_id(self) -> int:
        """Number of the initial state that a deployment begins in."""
        return int(str(self.scene.backend_options.get("init_id", 0)))

    @property
    def task_ids(self) -> tuple[str, ...]:
        """Tasks that can be done here, as `family/task` or `suite/task`, for comparison with `evaluated_tasks`."""
        family = self.scene.backend_options.get("family")
        tasks = self.scene.backend_options.get("tasks")
        names = [str(task) for task in tasks] if isinstance(tasks, list) else []
        return tuple(f"{family}/{name}" if family and "/" not in name else name for name in names)


class SceneTask(Schema):
    """What is to be done, and how the simulator tells that it was."""

    id: Word
    """Such as metaworld/drawer-open-v3."""
    scene_id: Word
    """Compared with a skill's `evaluated_tasks`."""
    instruction: Word
    """The words given to the policy."""
    instructions: Many[Word] = ()
    """Other words for it, said in turn, one an episode; absent: `instruction` each time."""
    max_steps: Count | None = None
    """Control steps until an episode is cut off; absent: the backend's own."""
    success_key: Word | None = None
    """Key of the simulator's step info that means success."""
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    """Remarks; nothing reads them."""

    def words_of(self, episode: int) -> str:
        """Return what the policy is told in an episode, counted from 0."""
        return self.instructions[episode % len(self.instructions)] if self.instructions else self.instruction


class SimScene(DeployScene):
    """One task in a scene."""

    task: SceneTask
    """What is to be done."""
    seed: Annotated[int, Field(ge=0)] = 0
    """First initial state; episode `i` begins in state `seed + i`."""
    n_episodes: Count = 1
    """How often to try."""

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The one task."""
        return (self.task.id,)

    @model_validator(mode="after")
    def _task_is_of_the_world(self) -> SimScene:
        options = self.scene.backend_options
        tasks = options.get("tasks") if options.get("family") == "mjcf" else None
        names = [str(name) for name in tasks] if isinstance(tasks, list) else []
        if names and self.task.id.removeprefix("mjcf/") not in names:
            what = f"'{self.task.id}' is none of scene.backend_options.tasks"
            fix = f"write {' or '.join(f'mjcf/{name}' for name in names)}"
            raise_faults([Fault("task.id", what, fix)])
        return self


class Protocol(Schema):
    """Where a benchmark comes from, and what its number does and does not say."""

    paper: Annotated[str, StringConstraints(pattern=r"^https://\S+$", max_length=300)] | None = None
    """Where the benchmark was published; absent: nowhere, it is your own."""
    honest_scope: Annotated[str, StringConstraints(min_length=1, max_length=600)]
    """What the number says, and what it does not."""
    display_name: Word | None = None
    """For tables; absent: the task's id."""
    simulator: Word | None = None
    """Versions it was run with."""


class BenchmarkScene(SimScene):
    """A task under a published protocol: nothing about it is left to a default."""

    seed: Annotated[int, Field(ge=0)]
    """First initial state; episode `i` begins in state `seed + i`."""
    n_episodes: Count
    """How often to try."""
    metadata: Protocol
    """Where the protocol comes from."""

    @model_validator(mode="after")
    def _protocol_is_complete(self) -> BenchmarkScene:
        raise_faults(
            [
                Fault(f"task.{name}", "is missing for a benchmark", "add it")
                for name in ("max_steps", "success_key")
                if getattr(self.task, name) is None
            ]
        )
        return self


@overload
def load_scene(path_or_name: str | Path) -> DeployScene: ...
@overload
def load_scene(path_or_name: str | Path, tier: type[SceneT]) -> SceneT: ...
def load_scene(path_or_name: str | Path, tier: type[DeployScene] = DeployScene) -> DeployScene:
    """Load a scene as the highest tier that its keys speak of.

    Args:
        path_or_name: `metaworld_drawer`, `scenes/deploy/metaworld_drawer.yaml` or a path.
        tier: the least tier that is needed; a higher one is one of these, too. A name may stand for a deployment and a
            benchmark of the same world, such as `libero_spatial`: the first that is of this tier is taken.

    Raises:
        NotFoundError: no such scene.
        ManifestError: one line a fault, or the file is of a lower tier.
    """
    documents = [read_document(path) for path in find_files(path_or_name, "scene", SCENE_PATTERNS)]
    return scene_of(next((one for one in documents if issubclass(_tier_of(one), tier)), documents[0]), tier)


def _tier_of(document: Document) -> type[DeployScene]:
    """Return the highest tier that a document's keys speak of."""
    keys = document.data if isinstance(document.data, dict) else {}
    if "metadata" in keys:
        return BenchmarkScene
    return SimScene if "task" in keys else DeployScene


_NEEDED: dict[type[DeployScene], tuple[str, tuple[str, ...]]] = {
    SimScene: ("a scene of one task", ("task",)),
    BenchmarkScene: ("a benchmark", ("task", "seed", "n_episodes", "metadata")),
}
"""Tier -> what it is called, and the keys that no lower tier asks for."""


def scene_of(document: Document, tier: type[DeployScene] = DeployScene) -> DeployScene:
    """Validate a document as a scene; see `load_scene`. Skills and a robot's file may lie beside the scene's."""
    found = _tier_of(document)
    if not issubclass(found, tier):
        what, keys = _NEEDED[tier]
        lines = [
            document.fault((key,), f"is missing for {what}", "add it, or name a scene that has it")
            for key in keys
            if not isinstance(document.data, dict) or key not in document.data
        ]
        raise ManifestError("\n".join(lines))
    scene = validate(found, document)
    scene._source = replace(document, path=document.path.absolute())  # the same file by whatever path
    scene = scene.model_copy(update=_skills_beside(scene, document.path.parent))
    beside = document.path.parent / scene.robot_id
    if beside.is_file():
        return scene.model_copy(update={"robot_id": str(beside)})
    try:
        robot_file(scene.robot_id)
    except NotFoundError as error:
        what, _, fix = str(error).partition("; ")
        raise ManifestError(document.fault(("robot_id",), what, fix)) from error
    return scene


def _skills_beside(scene: DeployScene, folder: Path) -> dict[str, str | tuple[str, ...]]:
    """Return the keys whose skills are named by a path from the scene's folder, with these paths made absolute."""

    def placed(ref: str) -> str:
        path = folder / ref
        is_skill = path.suffix in (".yaml", ".yml") if path.is_file() else (path / MANIFEST_NAME).is_file()
        return str(path.absolute()) if is_skill else ref

    found: dict[str, str | tuple[str, ...]] = {}
    for key in ("skills", "motions", "playbooks"):
        found[key] = tuple(placed(ref) for ref in getattr(scene, key))
    for key in ("reward_skill", "detector_skill"):
        if (ref := getattr(scene, key)) is not None:
            found[key] = placed(ref)
    return found
