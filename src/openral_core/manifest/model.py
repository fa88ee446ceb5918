"""The manifest of an rSkill: everything that is known about it before it is loaded."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, StringConstraints, field_validator, model_validator

from openral_core.manifest.actuators import ActuatorRequirement, EmbodimentExtra
from openral_core.manifest.contracts import (
    ActionContract,
    SkillEnvelope,
    StartingPose,
    StartPose,
    StateContract,
)
from openral_core.manifest.family_rules import family_faults
from openral_core.manifest.kind_rules import kind_faults
from openral_core.manifest.kind_sections import Detector, Playbook, Reward, RosIntegration, TaskExamples
from openral_core.manifest.runtime import LOCAL, HubUri, LatencyBudget, Processors, Quantization, WeightsUri
from openral_core.manifest.sensors import ImagePreprocessing, SensorRequirement
from openral_core.schema import Count, Fault, InitRange, Many, Positive, Schema, Unit, Word, raise_faults
from openral_core.vocabulary import (
    ActionVerb,
    Benchmark,
    Dtype,
    Embodiment,
    Leaves,
    License,
    Role,
    Runtime,
    SkillKind,
)

COMMERCIAL_LICENSES = ("apache-2.0", "mit", "bsd", "nvidia_open_model")
"""Licences that allow commercial use of the weights."""


class RSkillManifest(Schema):
    """`rskill.yaml`. Which fields a kind needs and refuses is in `openral_core.manifest.kind_rules`."""

    schema_version: Literal["0.1"] = "0.1"
    """Version of this schema."""
    name: Annotated[
        str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+$", max_length=120)
    ]
    """owner/name"""
    version: Annotated[
        str, StringConstraints(pattern=r"^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$")
    ]
    """Semantic version."""
    license: License = "unknown"
    """Licence of the weights."""
    role: Role = "s1"
    """Where it stands between reflex and deliberation."""
    kind: SkillKind
    """What sort of skill it is; decides which fields are needed."""
    model_family: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)] | None = None
    """The code that runs it, such as mini, smolvla, act, diffusion, pi05, rldx; others may be installed."""
    description: Annotated[str, StringConstraints(min_length=1, max_length=500, strip_whitespace=True)]
    """What it does, for people and for the reasoner."""

    embodiment_tags: Many[Embodiment] = Field(min_length=1)
    """Bodies it was trained on."""
    embodiment_extra: EmbodimentExtra | None = None
    """Present if, and only if, the tag is `custom`."""
    capabilities_required: dict[Word, bool] = Field(default_factory=dict)
    """Flags of the robot's `capabilities` and the value they must have."""
    sensors_required: Many[SensorRequirement] = ()
    """What it must see."""
    actuators_required: Many[ActuatorRequirement] = ()
    """What it must be able to move."""
    starting_pose: StartingPose | None = None
    """Joint positions [rad] or [m] from which it works best."""
    start_poses: Many[StartPose] = ()
    """Where the hand stands when it begins, as recorded in training: one entry for each task, or one for all."""
    leaves: Leaves = "anything"
    """What is in the hand when it has ended."""
    envelope: SkillEnvelope | None = None
    """Limits its makers ask for."""

    runtime: Runtime = "pytorch"
    """What runs the weights."""
    quantization: Quantization = Field(default_factory=Quantization)
    """Number format of the weights."""
    weights_uri: WeightsUri | None = None
    """Where the weights are."""
    min_vram_gb: dict[Dtype, Positive] = Field(default_factory=dict)
    """[GB] accelerator memory at the peak, by number format, for one robot; CUDA takes more for each process."""
    latency_budget: LatencyBudget
    """How long it may take."""
    processors: Processors | None = None
    """Files of the checkpoint's own normalisation, for families that read them (`manifest.families`)."""
    image_preprocessing: ImagePreprocessing | None = None
    """From the scene's image to the checkpoint's; absent: as it is."""
    state_contract: StateContract | None = None
    """The proprioception vector it takes."""
    action_contract: ActionContract | None = None
    """The actions it gives."""
    chunk_size: Count
    """H, actions of one inference."""
    n_action_steps: Count | None = None
    """Actions executed before the next inference is due, at most `chunk_size`; absent: all."""
    sim_env_control_mode: Literal["relative", "absolute"] | None = None
    """Controller mode a simulator must be put into."""
    policy_extras: dict[str, JsonValue] = Field(default_factory=dict)
    """What this family reads besides."""

    actions: Many[ActionVerb] = Field(min_length=1)
    """What it can do, as verbs."""
    objects: Many[Word] = ()
    """What it can do it to."""
    scenes: Many[Word] = ()
    """Where it works."""
    examples: Many[TaskExamples] = ()
    """Tasks it was trained for, with phrases that ask for them."""
    evaluated_tasks: Many[Word] = ()
    """Tasks, families of tasks (`metaworld` covers `metaworld/…`) or scenes it was evaluated on."""
    trained_init_ids: dict[Word, InitRange] = Field(default_factory=dict)
    """Task, family of tasks or scene, as in `evaluated_tasks` -> the initial states that training saw there. They prove
    nothing about the skill, so a benchmark refuses to judge it on them."""
    benchmarks: dict[Benchmark, Unit] = Field(default_factory=dict)
    """Benchmark -> success rate, 0 to 1."""
    goal_params_schema: dict[str, JsonValue] | None = None
    """JSON Schema of the parameters a goal may carry."""
    fallback_skill_id: Word | None = None
    """Skill to try when this one fails."""
    reward_rskill_name: Word | None = None
    """Reward skill that judges this one."""

    paper_url: Annotated[str, StringConstraints(pattern=r"^https://\S+$", max_length=300)] | None = None
    """Where it was published."""
    dataset_uri: HubUri | None = None
    """What it was trained on."""
    source_repo: HubUri | None = None
    """Where the original checkpoint is."""

    ros_integration: RosIntegration | None = None
    """For kinds ros_action and ros_service."""
    detector: Detector | None = None
    """For kind detector."""
    reward: Reward | None = None
    """For kind reward."""
    playbook: Playbook | None = None
    """For kind playbook."""

    @field_validator("weights_uri")
    @classmethod
    def _stays_in_folder(cls, value: str | None) -> str | None:
        if value and value.startswith(LOCAL):
            path = value.removeprefix(LOCAL)
            if path.startswith("/") or ".." in path.split("/"):
                raise ValueError(f"{value} leaves the manifest's folder; put the file beside rskill.yaml")
        return value

    @model_validator(mode="after")
    def _fields_fit(self) -> RSkillManifest:
        faults = kind_faults(self.kind, dict(self))
        if self.kind in ("vla", "reward"):
            faults += family_faults(self.model_family, dict(self))
        if self.n_action_steps is not None and self.n_action_steps > self.chunk_size:
            what = f"{self.n_action_steps} is more than chunk_size {self.chunk_size}"
            faults.append(Fault("n_action_steps", what, f"write at most {self.chunk_size}"))
        if ("custom" in self.embodiment_tags) != (self.embodiment_extra is not None):
            faults.append(Fault("embodiment_extra", "belongs to the tag `custom`", "give both or neither"))
        looks_back = self.image_preprocessing is not None and self.image_preprocessing.history
        if self.state_contract is not None and self.state_contract.history and not looks_back:
            what = "is true, but image_preprocessing.history names no instants"
            faults.append(Fault("state_contract.history", what, "name them, or remove it"))
        if self.fallback_skill_id == self.name:
            faults.append(Fault("fallback_skill_id", "is the skill itself", "name another skill"))
        starts = [start.task for start in self.start_poses]
        if len(starts) != len(set(starts)):
            faults.append(Fault("start_poses", "has two entries for one task", "keep one of them"))
        tasks = [example.task for example in self.examples]
        if len(tasks) != len(set(tasks)):
            faults.append(Fault("examples", "names a task twice", "put its phrases into one entry"))
        raise_faults(faults)
        return self

    @property
    def is_commercial_use_allowed(self) -> bool:
        """Whether the licence of the weights allows commercial use."""
        return self.license in COMMERCIAL_LICENSES

    @property
    def short_name(self) -> str:
        """The name without owner and without the prefix `rskill-`."""
        return self.name.split("/", 1)[1].removeprefix("rskill-")

    @property
    def replay_steps(self) -> int:
        """Actions executed before the next inference is due."""
        return self.n_action_steps or self.chunk_size
