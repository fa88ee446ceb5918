"""Scenes, which are worlds with a robot, in three tiers, each of which extends the one before.

deploy: the world, its robot and its skills. sim: adds a task and a number of episodes. benchmark: adds a protocol.
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
from openral_core.scene_arm import MAX_STREAM_HZ, SceneArm
from openral_core.scene_parts import SceneAction, SceneCamera, SceneWorld, is_divisor
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
DEPLOY_SCENES, ROBOT_SCENES = "scenes/deploy/{}.yaml", "scenes/robot/{}.yaml"
SCENE_PATTERNS = (
    DEPLOY_SCENES,
    ROBOT_SCENES,
    "scenes/sim/{}.yaml",
    "scenes/benchmarks/{}.yaml",
)


class DeployScene(Schema):
    """A world with a robot in it, and the skills that are deployed there."""

    scene: SceneWorld
    """The world and its cameras."""
    robot_id: Word
    """Name or path of the robot's description."""
    control_hz: Positive
    """[Hz] rate at which the bridge executes actions."""
    action: SceneAction
    """Action contract of the scene."""
    workspace: Box | None = None
    """[m] box of the hand in the world frame; required for `delta_ee_*`."""
    skills: Many[Word] = ()
    """References of the skills to deploy."""
    arm: SceneArm | None = None
    """The real arm, for the robot bridge; simulators ignore it."""
    home: Vector3 | None = None
    """[m] home position of the hand in the world frame; absent: there is none."""
    motions: Many[Word] = ()
    """References of the motions (kind ros_action) that a node offers in addition to the skills."""
    reward_skill: Word | None = None
    """Reference of the reward skill of the reward monitor."""
    detector_skill: Word | None = None
    """Reference of the detector (kind detector) that locates objects by words; absent: locations are pixels only."""
    mission: Word | None = None
    """Sentence of the mission that starts if the operator gives no other one."""
    resume: Resume = "ask"
    """Whether the reasoner, after a restart, resumes the mission that was active: ask the operator, always or never."""
    playbooks: Many[Word] = ()
    """References of the written procedures (kind playbook) that the reasoner may follow."""
    reasoner: dict[str, JsonValue] = Field(default_factory=dict)
    """Settings of the planning language model, see `openral_reasoner.llm.settings`; absent: the offline planner."""
    _source: Document | None = PrivateAttr(default=None)

    @property
    def source(self) -> Document | None:
        """The file that it was read from, beside which its model lies; None: it was created by code."""
        return self._source

    @property
    def reference(self) -> str:
        """Reference for commands: its name, the path of its file, or its id if it was created by code."""
        if self._source is None:
            return self.scene.id
        return name_of(self._source.path, SCENE_PATTERNS) or str(self._source.path)

    @model_validator(mode="after")
    def _rates_fit(self) -> DeployScene:
        faults = []
        for index, camera in enumerate(self.scene.cameras):
            if not is_divisor(camera.rate_hz, self.control_hz):
                what = f"{camera.rate_hz:g} Hz does not divide control_hz {self.control_hz:g}"
                faults.append(Fault(f"scene.cameras.{index}.rate_hz", what, "choose a divisor"))
        if self.action.representation.startswith("delta_ee") and self.workspace is None:
            faults.append(
                Fault("workspace", f"is missing for {self.action.representation}", "add low and high [m]")
            )
        raise_faults(faults + self._home_faults() + self._arm_faults())
        return self

    def _home_faults(self) -> list[Fault]:
        """Return a fault if the home position is outside the workspace."""
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
        """Return the faults of the real arm's cameras, of `pairing_s` and of `stream_hz`."""
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
        if self.arm.stream_hz < self.control_hz:
            what = f"{self.arm.stream_hz:g} Hz is below control_hz, so that targets would be left out"
            fix = f"write {self.control_hz:g} to {MAX_STREAM_HZ}"
            faults.append(Fault("arm.stream_hz", what, fix))
        return faults

    @property
    def dt(self) -> float:
        """[s] duration of a control step."""
        return 1.0 / self.control_hz

    @property
    def cameras(self) -> tuple[SceneCamera, ...]:
        """The scene's cameras."""
        return self.scene.cameras

    @property
    def init_id(self) -> int:
        """Number of the initial state of a deployment."""
        return int(str(self.scene.backend_options.get("init_id", 0)))

    @property
    def task_ids(self) -> tuple[str, ...]:
        """Ids of its tasks, as `family/task` or `suite/task`, for comparison with `evaluated_tasks`."""
        family = self.scene.backend_options.get("family")
        tasks = self.scene.backend_options.get("tasks")
        names = [str(task) for task in tasks] if isinstance(tasks, list) else []
        return tuple(f"{family}/{name}" if family and "/" not in name else name for name in names)


class SceneTask(Schema):
    """A task of a simulator, with its instruction and its success condition."""

    id: Word
    """Id such as metaworld/drawer-open-v3."""
    scene_id: Word
    """Id that is compared with a skill's `evaluated_tasks`."""
    instruction: Word
    """Instruction of the policy."""
    instructions: Many[Word] = ()
    """Several instructions, of which each episode gets the next one in turn; absent: `instruction` in all of them."""
    max_steps: Count | None = None
    """Largest number of control steps in an episode; absent: that of the backend."""
    success_key: Word | None = None
    """Key of the simulator's step info that is true on success."""
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    """Remarks, which no code reads."""

    def words_of(self, episode: int) -> str:
        """Return the instruction of an episode, counted from 0."""
        return self.instructions[episode % len(self.instructions)] if self.instructions else self.instruction


class SimScene(DeployScene):
    """One task in a scene."""

    task: SceneTask
    """The task."""
    seed: Annotated[int, Field(ge=0)] = 0
    """First initial state; episode `i` begins in state `seed + i`."""
    n_episodes: Count = 1
    """Number of episodes."""

    @property
    def task_ids(self) -> tuple[str, ...]:
        """Id of the task."""
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
    """Origin of a benchmark, and the scope of its result."""

    paper: Annotated[str, StringConstraints(pattern=r"^https://\S+$", max_length=300)] | None = None
    """URL of the publication; absent: the benchmark is not published."""
    honest_scope: Annotated[str, StringConstraints(min_length=1, max_length=600)]
    """What the result does and does not say."""
    display_name: Word | None = None
    """Name in tables; absent: the task's id."""
    simulator: Word | None = None
    """Versions of the simulator with which it was run."""


class BenchmarkScene(SimScene):
    """A task under a protocol, which leaves nothing to defaults."""

    seed: Annotated[int, Field(ge=0)]
    """First initial state; episode `i` begins in state `seed + i`."""
    n_episodes: Count
    """Number of episodes."""
    metadata: Protocol
    """Origin and scope of the protocol."""

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
    """Load a scene as the highest tier that its keys allow.

    Args:
        path_or_name: `metaworld_drawer`, `scenes/deploy/metaworld_drawer.yaml` or a path.
        tier: the lowest accepted tier. A name may stand for several files, such as a deployment and a benchmark of the
            world `libero_spatial`; the first one of this tier or a higher one is loaded.

    Raises:
        NotFoundError: no such scene.
        ManifestError: the file is invalid, with one line for each fault, or of a lower tier.
    """
    documents = [read_document(path) for path in find_files(path_or_name, "scene", SCENE_PATTERNS)]
    return scene_of(next((one for one in documents if issubclass(_tier_of(one), tier)), documents[0]), tier)


def _tier_of(document: Document) -> type[DeployScene]:
    """Return the highest tier that a document's keys allow."""
    keys = document.data if isinstance(document.data, dict) else {}
    if "metadata" in keys:
        return BenchmarkScene
    return SimScene if "task" in keys else DeployScene


_NEEDED: dict[type[DeployScene], tuple[str, tuple[str, ...]]] = {
    SimScene: ("a scene of one task", ("task",)),
    BenchmarkScene: ("a benchmark", ("task", "seed", "n_episodes", "metadata")),
}
"""Name of each tier, and its required keys that the base tier does not have."""


def scene_of(document: Document, tier: type[DeployScene] = DeployScene) -> DeployScene:
    """Validate a document as a scene; see `load_scene`.

    Paths of skills and of the robot's file may be relative to the scene's folder.
    """
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
    """Return the scene's keys of skills, with paths relative to the scene's folder made absolute."""

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
